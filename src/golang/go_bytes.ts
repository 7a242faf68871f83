/**
 * Go strings are bytes; here they are JavaScript strings. A byte that is not valid UTF-8 (half of a sliced character, an
 * escape such as `\xff`) becomes the lone surrogate U+DC00 + byte, so that no byte is lost.
 */
import { binaryOf, bytesOfBinary } from "../base/bytes.ts";

const encoder = new TextEncoder();
const strictDecoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const replacement = [0xef, 0xbf, 0xbd];
// deno-lint-ignore no-control-regex -- the range of ASCII: strings with as many bytes as characters
const asciiOnly = /^[\x00-\x7f]*$/;

/** Whether a string is ASCII, so that every character is one byte. */
export function isAscii(text: string): boolean {
  return asciiOnly.test(text);
}

/** The bytes of a string. */
export function bytesOf(text: string): Uint8Array {
  if (text.isWellFormed()) return encoder.encode(text);
  const out: number[] = [];
  for (const character of text) {
    const code = character.codePointAt(0) ?? 0;
    if (code >= 0xdc80 && code <= 0xdcff) out.push(code - 0xdc00);
    else if (code >= 0xd800 && code <= 0xdfff) out.push(...replacement);
    else out.push(...encoder.encode(character));
  }
  return Uint8Array.from(out);
}

/** The string of these bytes; bytes that are not UTF-8 are kept as lone surrogates. */
export function stringOf(bytes: Uint8Array): string {
  try {
    return strictDecoder.decode(bytes);
  } catch {
    // TypeError: the bytes are not UTF-8.
    return decodeLoosely(bytes);
  }
}

/** One character of UTF-8 beyond ASCII in a binary string, or a byte that is not UTF-8. */
const CHARACTER =
  /[\xc2-\xdf][\x80-\xbf]|(?:\xe0[\xa0-\xbf]|[\xe1-\xec\xee\xef][\x80-\xbf]|\xed[\x80-\x9f])[\x80-\xbf]|(?:\xf0[\x90-\xbf]|[\xf1-\xf3][\x80-\xbf]|\xf4[\x80-\x8f])[\x80-\xbf]{2}|[\x80-\xff]/g;

function decodeLoosely(bytes: Uint8Array): string {
  return binaryOf(bytes).replace(CHARACTER, (part) => {
    return part.length === 1
      ? String.fromCharCode(0xdc00 + part.charCodeAt(0))
      : strictDecoder.decode(bytesOfBinary(part));
  });
}

/** Go's `len` of a string: its length in bytes. */
export function byteLength(text: string): number {
  return isAscii(text) ? text.length : bytesOf(text).length;
}

/** Go's `text[from:to]`, by bytes. The caller has checked the bounds. */
export function sliceBytes(text: string, from: number, to: number): string {
  return isAscii(text) ? text.slice(from, to) : stringOf(bytesOf(text).subarray(from, to));
}

/** Joins halves of characters that a concatenation made adjacent (`slice "é" 0 1` and `slice "é" 1 2`). */
export function rejoin(text: string): string {
  return text.isWellFormed() ? text : stringOf(bytesOf(text));
}
