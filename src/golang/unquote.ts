import { rejoin } from "./go_bytes.ts";

const simple: Readonly<Record<string, string>> = {
  a: "\x07",
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "\\": "\\",
};

const escapes = /^\\(?:([abfnrtv\\'"])|x([0-9a-fA-F]{2})|([0-7]{3})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/;

/** The value of one character of a constant: a text, or the byte of an escape (`\xff`, `\377`). */
interface Unquoted {
  readonly text: string;
  readonly code: number;
  /** The length of the character's source text. */
  readonly length: number;
}

/** The value of a Go string constant with its quotes (`strconv.Unquote`); `undefined` for any other text. */
export function unquote(constant: string): string | undefined {
  const body = constant.slice(1, -1);
  if (constant.startsWith("`")) return body.replaceAll("\r", "");
  if (!body.includes("\\")) return body;
  let out = "";
  for (let at = 0; at < body.length;) {
    const one = unquoteCharacter(body.slice(at, at + 10), '"');
    if (one === undefined) return undefined;
    out += one.text;
    at += one.length;
  }
  return rejoin(out);
}

/** The first character of a constant whose quotes are `mark`; `undefined` if the character is invalid. */
export function unquoteCharacter(text: string, mark: string): Unquoted | undefined {
  if (!text.startsWith("\\")) return plainCharacter(text, mark);
  const match = escapes.exec(text);
  if (match === null) return undefined;
  const [{ length }, letter, hex, octal, short, long] = match;
  if (letter !== undefined) return letterEscape(letter, mark);
  if (short !== undefined || long !== undefined) return codePoint(parseInt(short ?? long ?? "", 16), length);
  return byteEscape(hex === undefined ? parseInt(octal ?? "", 8) : parseInt(hex, 16), length);
}

function plainCharacter(text: string, mark: string): Unquoted | undefined {
  const code = text.codePointAt(0);
  if (code === undefined || text.startsWith(mark)) return undefined;
  const character = String.fromCodePoint(code);
  return { text: character, code, length: character.length };
}

function letterEscape(letter: string, mark: string): Unquoted | undefined {
  if ((letter === "'" || letter === '"') && letter !== mark) return undefined;
  const text = simple[letter] ?? letter;
  return { text, code: text.charCodeAt(0), length: 2 };
}

function codePoint(code: number, length: number): Unquoted | undefined {
  if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) return undefined;
  return { text: String.fromCodePoint(code), code, length };
}

function byteEscape(byte: number, length: number): Unquoted | undefined {
  if (byte > 0xff) return undefined;
  return { text: String.fromCharCode(byte < 0x80 ? byte : 0xdc00 + byte), code: byte, length };
}
