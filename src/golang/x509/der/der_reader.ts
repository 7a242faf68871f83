/** Reads ASN.1 in DER with the errors of Go's encoding/asn1. */
import { hexOf, numberOf, TAG } from "./der.ts";

/** How Go's error messages print the parameters of a field without options. */
const NO_OPTIONS = "{optional:false explicit:false application:false private:false defaultValue:<nil> tag:<nil> " +
  "stringType:0 timeType:0 set:false omitEmpty:false}";

/** An ASN.1 element that was read. */
export interface Element {
  /** The identifier octet. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** The bytes of identifier, length and contents. */
  readonly whole: Uint8Array;
}

/** Reads elements in order. As in Go, bytes after the last element are ignored. */
export class DerReader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get atEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** The identifier octet of the next element, `undefined` at the end. */
  get nextTag(): number | undefined {
    return this.bytes[this.#at];
  }

  /** Reads the next element. Throws if its identifier octet differs. `type` is the Go type in the error text. */
  take(tag: number, type = ""): Element {
    if (this.atEnd) throw syntaxError("sequence truncated");
    const [start, length] = this.#header();
    const found = this.nextTag ?? 0;
    if (found !== tag) {
      throw structureError(
        `tags don't match (${tag & 0x1f} vs ${printedTag(found, length)}) ${NO_OPTIONS} ${type} @${start}`,
      );
    }
    return this.#element(start, length);
  }

  /** Reads the next element, of any type. */
  any(): Element {
    if (this.atEnd) throw syntaxError("sequence truncated");
    return this.#element(...this.#header());
  }

  /** Reads the next element if it has this identifier octet. */
  optional(tag: number): Element | undefined {
    return this.nextTag === tag ? this.take(tag) : undefined;
  }

  #element(start: number, length: number): Element {
    const end = start + length;
    if (end > this.bytes.length) throw syntaxError("data truncated");
    const whole = this.bytes.subarray(this.#at, end);
    const element = { tag: this.nextTag ?? 0, content: this.bytes.subarray(start, end), whole };
    this.#at = end;
    return element;
  }

  /** Reads a header. Returns the offset and the length of the element's contents. */
  #header(): [number, number] {
    const first = this.bytes[this.#at + 1];
    if (first === undefined) throw syntaxError("truncated tag or length");
    if (first < 0x80) return [this.#at + 2, first];
    if (first === 0x80) throw syntaxError("indefinite length found (not DER)");
    const start = this.#at + 2 + first - 0x80;
    if (first > 0x84) throw structureError("length too large");
    if (start > this.bytes.length) throw syntaxError("truncated tag or length");
    const lengthOctets = this.bytes.subarray(this.#at + 2, start);
    if (lengthOctets[0] === 0) throw structureError("superfluous leading zeros in length");
    const length = Number(numberOf(lengthOctets));
    if (length < 0x80) throw structureError("non-minimal length");
    return [start, length];
  }

  sequence(type = ""): DerReader {
    return new DerReader(this.take(TAG.sequence, type).content);
  }

  /** Reads an integer of any size; at most 8 bytes for Go's `int`. */
  integer(type: "int" | "" = ""): bigint {
    const { content } = this.take(TAG.integer, type);
    const [first, second] = content;
    if (first === undefined) throw structureError("empty integer");
    const isPadded = second !== undefined && (first === 0 ? second < 0x80 : first === 0xff && second >= 0x80);
    if (isPadded) throw structureError("integer not minimally-encoded");
    if (type === "int" && content.length > 8) throw structureError("integer too large");
    const value = numberOf(content);
    return first < 0x80 ? value : value - (1n << BigInt(content.length * 8));
  }

  /** Reads an object identifier. Returns its dotted form. */
  oid(): string {
    const { content } = this.take(TAG.oid, "ObjectIdentifier");
    if (content.length === 0) throw syntaxError("zero length OBJECT IDENTIFIER");
    if ((content.at(-1) ?? 0) >= 0x80) throw syntaxError("truncated base 128 integer");
    return dotted(content);
  }

  /** Reads a bit string that consists of whole bytes. */
  bits(): Uint8Array {
    const { content } = this.take(TAG.bits, "BitString");
    if (content.length === 0) throw syntaxError("zero length BIT STRING");
    if (content[0] !== 0) throw syntaxError("invalid padding bits in BIT STRING");
    return content.subarray(1);
  }
}

function dotted(content: Uint8Array): string {
  const parts: bigint[] = [];
  let value = 0n;
  for (const octet of content) {
    value = value << 7n | BigInt(octet & 0x7f);
    if (octet >= 0x80) continue;
    parts.push(value);
    value = 0n;
  }
  const [first = 0n, ...rest] = parts;
  const root = first < 80n ? first / 40n : 2n;
  return [root, first - root * 40n, ...rest].join(".");
}

function printedTag(tag: number, length: number): string {
  return `{class:${tag >> 6} tag:${tag & 0x1f} length:${length} isCompound:${(tag & 0x20) !== 0}}`;
}

function syntaxError(problem: string): Error {
  return new Error(`asn1: syntax error: ${problem}`);
}

function structureError(problem: string): Error {
  return new Error(`asn1: structure error: ${problem}`);
}

/** Whether two pieces of DER are the same. */
export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && hexOf(a) === hexOf(b);
}
