/**
 * Parses DNS messages as bytes (RFC 1035, RFC 6891). Answers copy the bytes of the question, and forwarding sends these
 * bytes unchanged, so only name, type and EDNS size are parsed.
 */

export const HEADER_LENGTH = 12;

export const TYPE = { A: 1, OPT: 41, AAAA: 28 } as const;
export const RCODE = { formErr: 1, servFail: 2, notImp: 4 } as const;

/** Header flags. Byte 2: response, authoritative, truncated, recursion desired. Byte 3: checking disabled. */
export const FLAG = { response: 0x80, authoritative: 0x04, truncated: 0x02, recursion: 0x01, unchecked: 0x10 } as const;
const OPCODE = 0x78;
const NOTIFY = 0x20;

const IN = 1;
/** UDP sizes in bytes: the minimum that every client accepts, and the maximum of a datagram. */
const MIN_SIZE = 512;
const MAX_DATAGRAM = 65_507;
const MAX_NAME = 255;

export interface Query {
  readonly bytes: Uint8Array;
  /** The queried name in wire format (a length before each label), in lower case, with one character per byte. */
  readonly name: string;
  /** `undefined` for classes other than IN, which the name table does not answer. */
  readonly type: number | undefined;
  readonly questionEnd: number;
  /** Maximum size of a UDP answer, in bytes. */
  readonly udpSize: number;
}

/** A message that is not a question. With an `rcode`, answer with this error; otherwise, ignore the message. */
export type NoQuery = { readonly rcode: number } | undefined;

/** Parses a question. Rejects the same messages as miekg/dns, which is Istio's library. */
export function readQuery(bytes: Uint8Array): Query | NoQuery {
  const flags = bytes[2] ?? 0;
  if (bytes.length < HEADER_LENGTH || (flags & FLAG.response) !== 0) return undefined;
  const opcode = flags & OPCODE;
  if (opcode !== 0 && opcode !== NOTIFY) return { rcode: RCODE.notImp };
  return readQuestion(bytes, opcode === 0) ?? { rcode: RCODE.formErr };
}

function readQuestion(bytes: Uint8Array, isQuery: boolean): Query | undefined {
  const end = plainNameEnd(bytes, HEADER_LENGTH);
  const questionEnd = end + 4;
  if (end < 0 || questionEnd > bytes.length) return undefined;
  const name = nameText(bytes, HEADER_LENGTH, end);
  const type = isQuery && bytes[end + 2] === 0 && bytes[end + 3] === IN ? uint16(bytes, end) : undefined;
  const records = recordsAfter(bytes, questionEnd);
  if (records === undefined) return undefined;
  const udpSize = Math.min(Math.max(records.udpSize, MIN_SIZE), MAX_DATAGRAM);
  return { bytes: bytes.subarray(0, records.end), name, type, questionEnd, udpSize };
}

/**
 * Returns the records after the question; `undefined` if the message has several questions, or more records than a
 * query may have.
 */
function recordsAfter(bytes: Uint8Array, start: number): Records | undefined {
  const [questions, answers, authorities, more] = countsOf(bytes);
  if (questions !== 1 || answers > 1 || authorities > 1 || more > 2) return undefined;
  return readRecords(bytes, start, answers + authorities + more);
}

/** Returns the numbers of questions, answers, authorities and additional records. */
export function countsOf(bytes: Uint8Array): readonly [number, number, number, number] {
  return [uint16(bytes, 4), uint16(bytes, 6), uint16(bytes, 8), uint16(bytes, 10)];
}

export function uint16(bytes: Uint8Array, at: number): number {
  return byteAt(bytes, at) << 8 | byteAt(bytes, at + 1);
}

export function byteAt(bytes: Uint8Array, at: number): number {
  return bytes[at] ?? 0;
}

/** Returns the end offset of an uncompressed name; -1 if the name is compressed, too long or cut off. */
function plainNameEnd(bytes: Uint8Array, start: number): number {
  const end = Math.min(bytes.length, start + MAX_NAME);
  for (let at = start; at < end;) {
    const length = bytes[at] ?? 0;
    if (length === 0) return at + 1;
    if (length > 63) return -1;
    at += length + 1;
  }
  return -1;
}

/** Returns the end offset of a name that may end in a compression pointer; -1 if the name is cut off. */
export function nameEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length;) {
    const length = byteAt(bytes, at);
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return -1;
    at += length + 1;
  }
  return -1;
}

function nameText(bytes: Uint8Array, start: number, end: number): string {
  const text: string = Reflect.apply(String.fromCharCode, undefined, bytes.subarray(start, end));
  return text.toLowerCase();
}

export interface Records {
  readonly end: number;
  /** UDP size from the OPT record; 0 without an OPT record. */
  readonly udpSize: number;
  /** Start offsets of the records, followed by the end offset of the last record. */
  readonly bounds: readonly number[];
  /** Index of the OPT record in `bounds`; -1 without an OPT record. */
  readonly opt: number;
}

/** Finds the boundaries of `count` records; returns `undefined` if the message is cut off. */
export function readRecords(bytes: Uint8Array, start: number, count: number): Records | undefined {
  const bounds = [start];
  let [at, udpSize, opt] = [start, 0, -1];
  for (let index = 0; index < count; index++) {
    const fixed = nameEnd(bytes, at);
    if (fixed < 0 || fixed + 10 > bytes.length) return undefined;
    if (uint16(bytes, fixed) === TYPE.OPT) [udpSize, opt] = [uint16(bytes, fixed + 2), index];
    at = fixed + 10 + uint16(bytes, fixed + 8);
    if (at > bytes.length) return undefined;
    bounds.push(at);
  }
  return { end: at, udpSize, bounds, opt };
}

/** Converts a name such as `www.example.com` to wire format in lower case; `undefined` if invalid. */
export function wireName(text: string): string | undefined {
  const labels = text.replace(/\.$/, "").split(".");
  if (labels.length === 1 && labels[0] === "") return undefined;
  let name = "";
  for (const label of labels) {
    if (label === "" || label.length > 63 || !/^[\x21-\x7e]+$/.test(label)) return undefined;
    name += String.fromCharCode(label.length) + label.toLowerCase();
  }
  return name.length + 1 > MAX_NAME ? undefined : `${name}\0`;
}

/** Converts a name from wire format to text. The root is `.`. */
export function nameOf(wire: string): string {
  const labels: string[] = [];
  for (let at = 0; at < wire.length;) {
    const length = wire.charCodeAt(at);
    if (length > 0) labels.push(wire.slice(at + 1, at + 1 + length));
    at += length + 1;
  }
  // deno-lint-ignore no-control-regex -- Names may hold any byte; a log line must not.
  return labels.join(".").replaceAll(/[\x00-\x20\x7f-\xff]/g, "?") || ".";
}
