/**
 * Removes characters from both ends of a text, as long as a test accepts them. An expression such as `/ +$/` starts
 * again at each space of the text, which takes quadratic time.
 */
export function trimmed(text: string, isTrimmed: (char: string) => boolean): string {
  let [start, end] = [0, text.length];
  while (start < end && isTrimmed(text.charAt(start))) start++;
  while (end > start && isTrimmed(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Removes these characters from the end of a text, but keeps the first `keep` units. */
export function trimmedEnd(text: string, characters: string, keep = 0): string {
  let end = text.length;
  while (end > keep && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
