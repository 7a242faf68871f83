/** Wraps words and abbreviates texts by bytes, as sprig's `wrap`, `wrapWith`, `abbrev` and `abbrevboth` do. */
import { fromBinary, toBinary } from "./octets.ts";

/** How to wrap: bytes per line, the line break to insert, and whether to cut a word that is longer than a line. */
export interface WrapOptions {
  readonly width: number;
  readonly newline: string;
  readonly cutWords: boolean;
}

/** Wraps a text at spaces. Drops leading spaces of a line. */
export function wrapText(text: string, options: WrapOptions): string {
  const width = Math.max(options.width, 1);
  const newline = toBinary(options.newline || "\n");
  return fromBinary(wrapBinary(toBinary(text), { ...options, width, newline }));
}

function wrapBinary(text: string, options: WrapOptions): string {
  const { width, newline } = options;
  let out = "";
  let at = 0;
  while (text.length - at > width) {
    if (text[at] === " ") {
      at++;
      continue;
    }
    const [end, next] = lineEnd(text, at, options);
    out += text.slice(at, end);
    // No line break after a long last word that must not be cut: the text ends there.
    if (end < text.length) out += newline;
    at = next;
  }
  return out + text.slice(at);
}

/** Returns the end of the line that starts at `at`, and the start of the next line. */
function lineEnd(text: string, at: number, { width, cutWords }: WrapOptions): [number, number] {
  const space = at + text.slice(at, at + width + 1).lastIndexOf(" ");
  if (space >= at) return [space, space + 1];
  if (cutWords) return [at + width, at + width];
  const later = text.indexOf(" ", at + width);
  return later < 0 ? [text.length, text.length] : [later, later + 1];
}

/** Cuts a text to `width` bytes, including three final dots. */
export function abbreviate(text: string, width: number): string {
  return width < 4 ? text : fromBinary(abbreviateBinary(toBinary(text), 0, width));
}

/** Cuts a text on both sides: from about byte `left`, at most `width` bytes including the dots. */
export function abbreviateBoth(text: string, left: number, width: number): string {
  if (width < 4 || (left > 0 && width < 7)) return text;
  return fromBinary(abbreviateBinary(toBinary(text), left, width));
}

function abbreviateBinary(text: string, left: number, width: number): string {
  if (text.length <= width) return text;
  const space = width - 3;
  const offset = Math.min(left, text.length - space);
  if (offset <= 4) return text.slice(0, space) + "...";
  if (offset + space >= text.length) return "..." + text.slice(text.length - space);
  return "..." + abbreviateBinary(text.slice(offset), 0, space);
}
