import { parseJson } from "../../base/json.ts";

const CLOSING: Readonly<Record<string, number>> = { "{": 1, "[": 1, "}": -1, "]": -1 };

/**
 * Splits consecutive JSON objects without `---`, which kubectl accepts. Each part keeps the white space after its
 * object. Any other text is one part.
 */
export function jsonValues(text: string): string[] {
  if (!/^\s*\{/.test(text)) return [text];
  const parts: string[] = [];
  let from = 0;
  for (let end = endOfObject(text, 0); end > 0; end = endOfObject(text, from)) {
    const next = skipSpace(text, end);
    if (text[next] !== "{" || parseJson(text.slice(from, end)) === undefined) break;
    parts.push(text.slice(from, next));
    from = next;
  }
  parts.push(text.slice(from));
  return parts;
}

/** The offset after the object that begins at or after `from`; -1 if the object is not closed. */
function endOfObject(text: string, from: number): number {
  const token = /["{}[\]]/g;
  token.lastIndex = from;
  let depth = 0;
  for (let found = token.exec(text); found !== null; found = token.exec(text)) {
    if (found[0] === '"') token.lastIndex = endOfString(text, found.index);
    else depth += CLOSING[found[0]] ?? 0;
    if (depth === 0) return token.lastIndex;
  }
  return -1;
}

/** The offset after a string in double quotes. */
function endOfString(text: string, quote: number): number {
  for (let at = quote + 1; at < text.length; at++) {
    if (text[at] === "\\") at++;
    else if (text[at] === '"') return at + 1;
  }
  return text.length;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && " \t\r\n".includes(text.charAt(at))) at++;
  return at;
}
