/**
 * A text without the characters at both ends that a test accepts. An expression such as `/ +$/` starts again at each
 * space of the text, which takes quadratic time.
 */
export function trimmed(text: string, isTrimmed: (char: string) => boolean): string {
  let [start, end] = [0, text.length];
  while (start < end && isTrimmed(text.charAt(start))) start++;
  while (end > start && isTrimmed(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** A text without any of these characters at its end; the first `keep` units of the text stay. */
export function trimmedEnd(text: string, characters: string, keep = 0): string {
  let end = text.length;
  while (end > keep && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
