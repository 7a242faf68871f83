const MAX_LENGTH = 200;

/** A text that somebody else chose, for a line of the log: in quotes, without line ends, and not too long. */
export function quoted(text: string): string {
  return JSON.stringify(text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH)}...` : text);
}
