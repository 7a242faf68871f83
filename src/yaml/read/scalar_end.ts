/**
 * Finds the end of one-line scalars. The regular expressions search for the next delimiter. Do not match the content
 * with a repeated group: V8 needs memory for each repetition, and fails after a few million.
 */

/** The start of a common plain scalar, and the delimiter after the scalar. */
const BLOCK = { start: /[\w./$(+~=^;<\\)]|-(?![ \n]|$)/y, end: /\n|:(?=[ \n]|$)|(?<= )#/g };
const FLOW = { start: /[\w./$(+~=^;<\\)]|-(?![ \n,[\]{}]|$)/y, end: /[\n,[\]{}]|:(?=[ \n,[\]{}]|$)|(?<= )#/g };

/** The end of a plain scalar, including the spaces after it; `undefined` if no common scalar starts at `start`. */
export function plainEnd(text: string, at: number, inFlow: boolean): number | undefined {
  const { start, end } = inFlow ? FLOW : BLOCK;
  start.lastIndex = at;
  if (!start.test(text)) return undefined;
  end.lastIndex = at + 1;
  return end.exec(text)?.index ?? text.length;
}

const DOUBLE = /"|\\["\\nt]|\\|\n/g;
const SINGLE = /''|'|\n/g;

/**
 * The end of a quoted scalar on one line, including its quotes. `undefined` for escapes other than `\"`, `\\`, `\n` and
 * `\t`, and for a missing end quote.
 */
export function quotedEnd(text: string, start: number): number | undefined {
  const quote = text.charAt(start);
  const marks = quote === '"' ? DOUBLE : SINGLE;
  marks.lastIndex = start + 1;
  let mark = marks.exec(text)?.[0];
  while (mark?.length === 2) mark = marks.exec(text)?.[0];
  return mark === quote ? marks.lastIndex : undefined;
}
