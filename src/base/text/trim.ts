/**
 * Removes characters from both ends of a text, as long as a test accepts them. A regular expression such as `/ +$/`
 * would start again at each space of the text, which takes quadratic time.
 */
export function trimmed(text: string, isTrimmed: (char: string) => boolean): string {
  let [start, end] = [0, text.length];
  while (start < end && isTrimmed(text.charAt(start))) start++;
  while (end > start && isTrimmed(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

/** Removes these characters from the end of a text, but never from its first `keep` UTF-16 units. */
export function trimmedEnd(text: string, characters: string, keep = 0): string {
  let end = text.length;
  while (end > keep && characters.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
}
