import { lengthOctets, numberOf, TAG } from "./der.ts";

/** An ASN.1 element that was read. */
export interface Element {
  /** The identifier octet. */
  readonly tag: number;
  readonly content: Uint8Array;
  /** The bytes of identifier, length and contents. */
  readonly whole: Uint8Array;
}

/**
 * Reads ASN.1 elements in DER, in order. Each method throws if the next element is missing, is not DER, or is not of the
 * method's type. As in Go, bytes after the last element are ignored.
 */
export class DerReader {
  #at = 0;

  constructor(readonly bytes: Uint8Array) {}

  get atEnd(): boolean {
    return this.#at >= this.bytes.length;
  }

  /** Reads the next element, of any type. */
  any(): Element {
    const [tag, first] = this.bytes.subarray(this.#at);
    if (tag === undefined || first === undefined || first === 0x80 || first > 0x84) throw malformed();
    const start = this.#at + (first < 0x80 ? 2 : first - 0x7e);
    const length = first < 0x80 ? first : Number(numberOf(this.bytes.subarray(this.#at + 2, start)));
    const end = start + length;
    // In DER, a length is written in the fewest octets.
    if (lengthOctets(length)[0] !== first || end > this.bytes.length) throw malformed();
    const whole = this.bytes.subarray(this.#at, end);
    this.#at = end;
    return { tag, content: this.bytes.subarray(start, end), whole };
  }

  /** Reads the next element, which must have this identifier octet. */
  take(tag: number): Element {
    const element = this.any();
    if (element.tag !== tag) throw malformed();
    return element;
  }

  /** Reads the next element if it has this identifier octet. */
  optional(tag: number): Element | undefined {
    return this.bytes[this.#at] === tag ? this.any() : undefined;
  }

  sequence(): DerReader {
    return new DerReader(this.take(TAG.sequence).content);
  }

  integer(): bigint {
    const { content } = this.take(TAG.integer);
    const bits = 8 * content.length;
    const value = BigInt.asIntN(bits, numberOf(content));
    const isPadded = bits > 8 && BigInt.asIntN(bits - 8, value) === value;
    if (bits === 0 || isPadded) throw malformed();
    return value;
  }

  /** Reads an object identifier. Returns its dotted form. */
  oid(): string {
    const { content } = this.take(TAG.oid);
    if ((content.at(-1) ?? 0x80) >= 0x80) throw malformed();
    return dotted(content);
  }

  /** Reads a bit string that consists of whole bytes. */
  bits(): Uint8Array {
    const { content } = this.take(TAG.bits);
    if (content[0] !== 0) throw malformed();
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

function malformed(): Error {
  return new Error("asn1: malformed DER");
}
