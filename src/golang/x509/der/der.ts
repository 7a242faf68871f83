/** Writes the ASN.1 types that keys and certificates need, in DER (ITU-T X.690). */
import { joinBytes } from "../../../base/bytes.ts";

const encoder = new TextEncoder();

/** The identifier octets of universal types. */
export const TAG = {
  boolean: 0x01,
  integer: 0x02,
  bits: 0x03,
  octets: 0x04,
  null: 0x05,
  oid: 0x06,
  utf8: 0x0c,
  printable: 0x13,
  utcTime: 0x17,
  generalizedTime: 0x18,
  sequence: 0x30,
  set: 0x31,
} as const;

/** Writes an element: identifier, length, contents. */
export function element(tag: number, ...contents: readonly Uint8Array[]): Uint8Array {
  const content = joinBytes(contents.length === 0 ? [new Uint8Array()] : contents);
  return joinBytes([Uint8Array.of(tag, ...lengthOctets(content.length)), content]);
}

/** The octets of an element's length, as few as possible. */
export function lengthOctets(length: number): readonly number[] {
  if (length < 0x80) return [length];
  const octets: number[] = [];
  for (let rest = length; rest > 0; rest = Math.floor(rest / 256)) octets.unshift(rest % 256);
  return [0x80 + octets.length, ...octets];
}

export function sequence(...parts: readonly Uint8Array[]): Uint8Array {
  return element(TAG.sequence, ...parts);
}

/** A context-specific element that contains other elements, such as `[0] EXPLICIT`. */
export function explicit(number: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return element(0xa0 + number, ...parts);
}

/** A context-specific element that replaces a string's tag, such as `[0] IMPLICIT OCTET STRING`. */
export function implicit(number: number, content: Uint8Array): Uint8Array {
  return element(0x80 + number, content);
}

/** An INTEGER of 0 or more. */
export function integer(value: bigint | number): Uint8Array {
  const bytes = unsignedBytes(BigInt(value));
  return element(TAG.integer, (bytes[0] ?? 0) >= 0x80 ? joinBytes([Uint8Array.of(0), bytes]) : bytes);
}

/** Encodes a non-negative integer as big-endian bytes: as few as possible, but at least `size`. */
export function unsignedBytes(value: bigint, size = 1): Uint8Array {
  const digits = value.toString(16);
  const hex = digits.padStart(Math.max(size * 2, digits.length + digits.length % 2), "0");
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

/** The number in big-endian bytes. */
export function numberOf(bytes: Uint8Array): bigint {
  return bytes.length === 0 ? 0n : BigInt(`0x${hexOf(bytes)}`);
}

export function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An object identifier from its dotted form. */
export function oid(dotted: string): Uint8Array {
  const [first = 0, second = 0, ...rest] = dotted.split(".").map(Number);
  return element(TAG.oid, Uint8Array.from([first * 40 + second, ...rest].flatMap(base128)));
}

function base128(value: number): readonly number[] {
  const octets = [value % 128];
  for (let rest = Math.floor(value / 128); rest > 0; rest = Math.floor(rest / 128)) octets.unshift(rest % 128 + 128);
  return octets;
}

export function octets(content: Uint8Array): Uint8Array {
  return element(TAG.octets, content);
}

/** A BIT STRING. The last `unused` bits do not belong to its value. */
export function bits(content: Uint8Array, unused = 0): Uint8Array {
  return element(TAG.bits, Uint8Array.of(unused), content);
}

export const NULL = element(TAG.null);
export const TRUE = element(TAG.boolean, Uint8Array.of(0xff));

/**
 * A text: a PrintableString if its characters allow that, otherwise a UTF8String, as in Go's encoding/asn1.
 * Throws if the text is not UTF-8.
 */
export function text(value: string): Uint8Array {
  if (!value.isWellFormed()) throw new Error("asn1: string not valid UTF-8");
  return element(/^[A-Za-z0-9 '()+,\-./:=?]*$/.test(value) ? TAG.printable : TAG.utf8, encoder.encode(value));
}

/** A time in whole seconds: UTCTime from 1950 to 2049, otherwise GeneralizedTime (RFC 5280, 4.1.2.5). */
export function time(seconds: bigint): Uint8Array {
  const stamp = new Date(Number(seconds) * 1000).toISOString().replace(/[-:T]|\.\d+/g, "");
  const year = Number(stamp.slice(0, 4));
  const isShort = year >= 1950 && year < 2050;
  return element(isShort ? TAG.utcTime : TAG.generalizedTime, encoder.encode(isShort ? stamp.slice(2) : stamp));
}
