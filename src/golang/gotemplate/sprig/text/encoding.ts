/** sprig's base64 and base32 functions. For an invalid text, decoding returns Go's error message, as in sprig. */
import { type FuncMap, pure } from "../../../go_value.ts";
import { STRING, text } from "../args.ts";
import { fromBinary, toBinary } from "./octets.ts";

/** Returns the functions of this file by name. */
export function encodingFunctions(): FuncMap {
  return {
    b64enc: pure([STRING], (s) => btoa(toBinary(text(s)))),
    b64dec: pure([STRING], (s) => decode(text(s), decodeBase64)),
    b32enc: pure([STRING], (s) => encodeBase32(toBinary(text(s)))),
    b32dec: pure([STRING], (s) => decode(text(s), decodeBase32)),
  };
}

const LETTERS32 = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Thrown if a text is not valid base64 or base32. The message contains the offset of the first invalid byte. */
class Corrupt extends Error {
  constructor(name: string, at: number) {
    super(`illegal ${name} data at input byte ${at}`);
  }
}

function encodeBase32(binary: string): string {
  let bits = "";
  for (const byte of binary) bits += byte.charCodeAt(0).toString(2).padStart(8, "0");
  const groups = bits.match(/.{1,5}/g) ?? [];
  const letters = groups.map((group) => LETTERS32.charAt(parseInt(group.padEnd(5, "0"), 2))).join("");
  return letters.padEnd(Math.ceil(letters.length / 8) * 8, "=");
}

function decode(source: string, read: (binary: string) => string): string {
  try {
    return fromBinary(read(toBinary(source)));
  } catch (error) {
    if (error instanceof Corrupt) return error.message;
    throw error;
  }
}

/** Decodes base64 to a binary string. Padding is required; line breaks may be anywhere. Throws for an invalid text. */
export function decodeBase64(binary: string): string {
  const [start = ""] = /^[A-Za-z0-9+/\r\n]*/.exec(binary) ?? [];
  const at = start.length;
  const letters = start.replace(/[\r\n]/g, "");
  const over = letters.length % 4;
  if (binary[at] === "=") checkPadding64(binary, at, over);
  else if (at < binary.length) throw new Corrupt("base64", at);
  else if (over !== 0) throw new Corrupt("base64", at - over);
  return atob(letters);
}

/** Checks the padding at the end: two equal signs after two letters of a group, one after three letters. */
function checkPadding64(binary: string, start: number, over: number): void {
  if (over < 2) throw new Corrupt("base64", start);
  let at = afterLineEnds(binary, start + 1);
  if (over === 2) {
    if (at === binary.length) throw new Corrupt("base64", at);
    if (binary[at] !== "=") throw new Corrupt("base64", at - 1);
    at = afterLineEnds(binary, at + 1);
  }
  if (at < binary.length) throw new Corrupt("base64", at);
}

function afterLineEnds(binary: string, start: number): number {
  let at = start;
  while (binary[at] === "\n" || binary[at] === "\r") at++;
  return at;
}

/** Decodes base32. Line breaks are ignored and do not count in the offset of an error. */
function decodeBase32(source: string): string {
  const binary = source.replace(/[\r\n]/g, "");
  const [letters = ""] = /^[A-Z2-7]*/.exec(binary) ?? [];
  const at = letters.length;
  const over = at % 8;
  if (binary[at] === "=" && over >= 2 && binary.length - at <= 8) checkPadding32(binary, at, over);
  else if (at < binary.length) throw new Corrupt("base32", at);
  else if (over !== 0) throw new Corrupt("base32", at - over);
  let bits = "";
  for (const letter of letters) bits += LETTERS32.indexOf(letter).toString(2).padStart(5, "0");
  return (bits.match(/.{8}/g) ?? []).map((byte) => String.fromCharCode(parseInt(byte, 2))).join("");
}

function checkPadding32(binary: string, at: number, over: number): void {
  const rest = binary.slice(at + 1);
  if (rest.length + over < 7) throw new Corrupt("base32", binary.length);
  const wrong = [...rest.slice(0, 7 - over)].findIndex((c) => c !== "=");
  if (wrong >= 0) throw new Corrupt("base32", at + wrong);
  if (over === 3 || over === 6) throw new Corrupt("base32", at);
}
