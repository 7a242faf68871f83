/**
 * The first offset at or after `from` that is not white space, part of a comment, or a character in `skipped`. `from`
 * must be the end of a token.
 */
export function skipBlank(text: string, from: number, skipped = ""): number {
  let at = from;
  while (at < text.length) {
    const char = text.charAt(at);
    if (char === "#") at = endOfLine(text, at);
    else if (" \n\r\t\uFEFF".includes(char) || skipped.includes(char)) at++;
    else break;
  }
  return at;
}

/** The offset of the line break (`\r\n` or `\n`) that ends the line, or the end of the text. */
export function endOfLine(text: string, from: number): number {
  const end = text.indexOf("\n", from);
  if (end < 0) return text.length;
  return end > from && text[end - 1] === "\r" ? end - 1 : end;
}
