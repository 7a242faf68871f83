/** Shortens a text to `length` characters. Keeps its beginning and its end, with "…" between them. */
export function withoutMiddle(text: string, length: number): string {
  if (text.length <= length) return text;
  const half = Math.floor((length - 1) / 2);
  return `${text.slice(0, half).toWellFormed()}…${text.slice(-half).toWellFormed()}`;
}
