/**
 * A text without the characters at both ends that a test accepts. An expression such as `/ +$/` begins again at each
 * space of the text: it takes the square of the spaces.
 */
export function trimmed(text: string, isTrimmed: (char: string) => boolean): string {
  let [start, end] = [0, text.length];
  while (start < end && isTrimmed(text.charAt(start))) start++;
  while (end > start && isTrimmed(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}
