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

const LETTERS64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
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
  const values: number[] = [];
  let at = 0;
  for (; at < binary.length && binary[at] !== "="; at++) {
    if (isLineEnd(binary[at])) continue;
    const value = LETTERS64.indexOf(binary.charAt(at));
    if (value < 0) throw new Corrupt("base64", at);
    values.push(value);
  }
  const over = values.length % 4;
  if (at < binary.length) checkPadding64(binary, at, over);
  else if (over !== 0) throw new Corrupt("base64", at - over);
  return join(values, 6);
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
  while (isLineEnd(binary[at])) at++;
  return at;
}

function isLineEnd(c: string | undefined): boolean {
  return c === "\n" || c === "\r";
}

/** Decodes base32. Line breaks are ignored and do not count in the offset of an error. */
function decodeBase32(source: string): string {
  const binary = source.replace(/[\r\n]/g, "");
  const values: number[] = [];
  for (let at = 0; at < binary.length; at++) {
    const over = values.length % 8;
    const value = LETTERS32.indexOf(binary.charAt(at));
    if (value >= 0) values.push(value);
    else if (binary[at] === "=" && over >= 2 && binary.length - at <= 8) {
      checkPadding32(binary, at, over);
      return join(values, 5);
    } else throw new Corrupt("base32", at);
  }
  if (values.length % 8 !== 0) throw new Corrupt("base32", binary.length - values.length % 8);
  return join(values, 5);
}

function checkPadding32(binary: string, at: number, over: number): void {
  const rest = binary.slice(at + 1);
  if (rest.length + over < 7) throw new Corrupt("base32", binary.length);
  const wrong = [...rest.slice(0, 7 - over)].findIndex((c) => c !== "=");
  if (wrong >= 0) throw new Corrupt("base32", at + wrong);
  if (over === 3 || over === 6) throw new Corrupt("base32", at);
}

function join(values: readonly number[], bits: number): string {
  let binary = "";
  let pending = 0;
  let held = 0;
  for (const value of values) {
    pending = (pending << bits) | value;
    held += bits;
    if (held < 8) continue;
    held -= 8;
    binary += String.fromCharCode((pending >> held) & 0xff);
    pending &= (1 << held) - 1;
  }
  return binary;
}
