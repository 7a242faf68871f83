/**
 * Conversions for functions that count bytes. A "binary" string has one character (U+0000-U+00FF) per byte of the UTF-8
 * text, so that JavaScript's string methods count bytes.
 */
import { binaryOf, bytesOfBinary } from "../../../../base/bytes.ts";
import { bytesOf, isAscii, stringOf } from "../../../go_bytes.ts";

/** The binary string of a text. */
export function toBinary(text: string): string {
  return isAscii(text) ? text : binaryOf(bytesOf(text));
}

/** The text of a binary string. */
export function fromBinary(binary: string): string {
  return isAscii(binary) ? binary : stringOf(bytesOfBinary(binary));
}
