/** Parses the pod's labels and annotations in the file format of the downward API: `key="quoted value"`. */

const SIMPLE: Readonly<Record<string, number>> = { a: 7, b: 8, f: 12, n: 10, r: 13, t: 9, v: 11, "\\": 92, '"': 34 };
const PIECE = /\\(?:([abfnrtv\\"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))|([^\\"\n]+)/y;

const encoder = new TextEncoder();

/** Parses a file, and ignores lines without `=`. Returns a string that describes the problem if a line is invalid. */
export function parseDownwardApi(text: string): Map<string, string> | string {
  const values = new Map<string, string>();
  for (const line of text.split("\n")) {
    const equals = line.indexOf("=");
    if (equals < 0) continue;
    const value = unquote(line.slice(equals + 1));
    if (value === undefined) return `the value of "${line.slice(0, equals)}" is not a quoted string`;
    values.set(line.slice(0, equals), value);
  }
  return values;
}

/** Unquotes a Go string literal (`strconv.Unquote`); `undefined` if invalid. */
function unquote(constant: string): string | undefined {
  if (/^`[^`]*`$/.test(constant)) return constant.slice(1, -1).replaceAll("\r", "");
  if (!/^"[^]*"$/.test(constant) || constant.length < 2) return undefined;
  const body = constant.slice(1, -1);
  const bytes: number[] = [];
  PIECE.lastIndex = 0;
  while (PIECE.lastIndex < body.length) {
    const match = PIECE.exec(body);
    const piece = match === null ? undefined : bytesOf(match);
    if (piece === undefined) return undefined;
    for (const byte of piece) bytes.push(byte);
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

/** Returns the bytes of a character or an escape: `\x` and octal escapes are bytes, `\u` and `\U` code points. */
function bytesOf([, simple, hex, octal, short, long, plain]: RegExpExecArray): Iterable<number> | undefined {
  if (plain !== undefined) return encoder.encode(plain);
  if (simple !== undefined) return [SIMPLE[simple] ?? 0];
  const point = short ?? long;
  return point === undefined ? byteOf(hex, octal) : pointOf(parseInt(point, 16));
}

function byteOf(hex: string | undefined, octal: string | undefined): number[] | undefined {
  const byte = hex === undefined ? parseInt(octal ?? "", 8) : parseInt(hex, 16);
  return byte > 0xff ? undefined : [byte];
}

function pointOf(code: number): Iterable<number> | undefined {
  const isSurrogate = code >= 0xd800 && code < 0xe000;
  return code > 0x10ffff || isSurrogate ? undefined : encoder.encode(String.fromCodePoint(code));
}
