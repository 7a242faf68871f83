import { isPrint } from "../unicode.ts";

const short: Readonly<Record<number, string>> = {
  7: "\\a",
  8: "\\b",
  9: "\\t",
  10: "\\n",
  11: "\\v",
  12: "\\f",
  13: "\\r",
  92: "\\\\",
};

/** A Go string constant in double quotes (`strconv.Quote`). If `ascii` is true, non-ASCII characters are escaped. */
export function quote(text: string, ascii = false): string {
  let out = '"';
  for (const character of text) out += escaped(character.codePointAt(0) ?? 0, '"', ascii);
  return `${out}"`;
}

/** A Go character constant in single quotes (`strconv.QuoteRune`). An invalid code point gives U+FFFD. */
export function quoteRune(code: number, ascii = false): string {
  return `'${escaped(validRune(code), "'", ascii)}'`;
}

/** The code point, or U+FFFD for an invalid code point. */
export function validRune(code: number): number {
  return code < 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff) ? 0xfffd : code;
}

function escaped(code: number, mark: string, ascii: boolean): string {
  if (code === mark.charCodeAt(0)) return `\\${mark}`;
  const known = short[code];
  if (known !== undefined) return known;
  if (code >= 0xdc80 && code <= 0xdcff) return `\\x${hex(code - 0xdc00, 2)}`;
  const rune = validRune(code);
  if (rune < 0x7f ? rune >= 0x20 : !ascii && isPrint(rune)) return String.fromCodePoint(rune);
  if (rune < 0x80) return `\\x${hex(rune, 2)}`;
  return rune > 0xffff ? `\\U${hex(rune, 8)}` : `\\u${hex(rune, 4)}`;
}

/** Lower-case hexadecimal digits, at least `digits` of them. */
export function hex(value: number, digits: number): string {
  return value.toString(16).padStart(digits, "0");
}

/** Whether a text can be a raw string between backquotes on one line (`strconv.CanBackquote`). */
export function canBackquote(text: string): boolean {
  // deno-lint-ignore no-control-regex -- a tab is the one control character that may be in it
  return !/[\x00-\x08\x0a-\x1f\x60\x7f\ufeff\ud800-\udfff]/u.test(text);
}
