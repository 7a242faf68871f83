/** Encodes answers, with the same flags as Istio's agent. */
import type { Found } from "./lookup.ts";
import { byteAt, countsOf, FLAG, HEADER_LENGTH, type Query, readRecords, type Records, TYPE } from "../wire.ts";

/** TTL in seconds. The TTL is short, because addresses of the mesh may change at any time. */
const TTL = 30;

const CNAME = 5;
/** Bytes of a record before its data: name (a pointer), type, class, TTL and data length. */
const RECORD_HEADER = 12;
const POINTER = 0xc000;

/** Encodes an answer from the table in at most `limit` bytes. Leaves out addresses that do not fit, and sets TC. */
export function tableAnswer(query: Query, found: Found, limit: number, random: () => number): Uint8Array {
  const { addresses, width } = found;
  const count = addresses.length / width;
  const alias = aliasOf(found);
  const start = query.questionEnd + (alias === "" ? 0 : RECORD_HEADER + alias.length);
  // The question and the canonical name together may exceed 512 bytes.
  if (start > limit) return withHeader(query, query.questionEnd, FLAG.authoritative | FLAG.truncated, 0);
  const fitting = Math.min(count, Math.floor((limit - start) / (RECORD_HEADER + width)));
  const isCut = fitting < count;
  const size = start + fitting * (RECORD_HEADER + width);
  const bytes = withHeader(query, size, FLAG.authoritative | (isCut ? FLAG.truncated : 0), 0);
  const first = query.questionEnd;
  let at = alias === "" ? first : putRecord(bytes, first, { owner: HEADER_LENGTH, type: CNAME, data: alias });
  const owner = alias === "" ? HEADER_LENGTH : first + RECORD_HEADER;
  const type = width === 4 ? TYPE.A : TYPE.AAAA;
  for (const index of shuffled(count, fitting, random)) {
    at = putRecord(bytes, at, { owner, type, data: addresses.slice(index * width, (index + 1) * width) });
  }
  const records = fitting + (alias === "" ? 0 : 1);
  bytes[6] = records >> 8;
  bytes[7] = records & 255;
  return bytes;
}

/** Returns the canonical name that precedes the addresses; `""` if no CNAME record is needed. */
function aliasOf({ canonical = "", addresses }: Found): string {
  return addresses === "" ? "" : canonical;
}

/** Encodes an error answer. */
export function errorAnswer(query: Query, rcode: number): Uint8Array {
  return withHeader(query, query.questionEnd, 0, rcode);
}

/** Encodes the error answer to a message that is not a valid question. */
export function errorReply(message: Uint8Array, rcode: number): Uint8Array {
  const answer = new Uint8Array(HEADER_LENGTH);
  answer.set(message.subarray(0, 3));
  answer[2] = byteAt(message, 2) & ~(FLAG.authoritative | FLAG.truncated) | FLAG.response;
  answer[3] = rcode;
  return answer;
}

function withHeader({ bytes, questionEnd }: Query, size: number, flags: number, rcode: number): Uint8Array {
  const answer = new Uint8Array(size);
  answer.set(bytes.subarray(0, questionEnd));
  answer[2] = byteAt(bytes, 2) & ~(FLAG.authoritative | FLAG.truncated) | FLAG.response | flags;
  answer[3] = byteAt(bytes, 3) & FLAG.unchecked | rcode;
  answer.fill(0, 6, HEADER_LENGTH);
  return answer;
}

/** A record. `owner` is the offset of its name; `data` has one character per byte. */
interface Record {
  readonly owner: number;
  readonly type: number;
  readonly data: string;
}

/** The fixed start of a record: pointer, type below 256, class IN, TTL, data length. */
const RECORD_START = new Uint8Array([POINTER >> 8, 0, 0, 0, 0, 1, 0, 0, 0, TTL, 0, 0]);

/** Writes a record and returns its end offset. */
function putRecord(bytes: Uint8Array, at: number, { owner, type, data }: Record): number {
  const { length } = data;
  bytes.set(RECORD_START, at);
  bytes[at] = (POINTER | owner) >> 8;
  bytes[at + 1] = owner & 255;
  bytes[at + 3] = type;
  bytes[at + 10] = length >> 8;
  bytes[at + 11] = length & 255;
  const start = at + RECORD_HEADER;
  for (let index = 0; index < length; index++) bytes[start + index] = data.charCodeAt(index);
  return start + length;
}

/** Returns `wanted` random indices below `count`. The order is random, because clients use the first address. */
function shuffled(count: number, wanted: number, random: () => number): readonly number[] {
  const indices = Array.from({ length: count }, (_, index) => index);
  for (let at = 0; at < wanted; at++) {
    const other = at + Math.floor(random() * (count - at));
    [indices[at], indices[other]] = [indices[other] ?? 0, indices[at] ?? 0];
  }
  indices.length = wanted;
  return indices;
}

const EMPTY = new Uint8Array(0);

/** Shortens an upstream answer to at most `limit` bytes: keeps whole records, and the OPT record. */
export function truncate(answer: Uint8Array, questionEnd: number, limit: number): Uint8Array {
  if (answer.length <= limit) return answer;
  const [, answers, authorities, more] = countsOf(answer);
  const records = readRecords(answer, questionEnd, answers + authorities + more);
  if (records === undefined) return truncateAt(answer, questionEnd, 0, EMPTY);
  const option = optionOf(answer, records, limit - questionEnd);
  const { bounds } = records;
  let kept = 0;
  while (kept < answers && (bounds[kept + 1] ?? Infinity) + option.length <= limit) kept++;
  return truncateAt(answer, bounds[kept] ?? questionEnd, kept, option);
}

function optionOf(answer: Uint8Array, { bounds, opt }: Records, space: number): Uint8Array {
  const option = opt < 0 ? EMPTY : answer.subarray(bounds[opt], bounds[opt + 1]);
  return option.length > space ? EMPTY : option;
}

function truncateAt(answer: Uint8Array, end: number, kept: number, option: Uint8Array): Uint8Array {
  const cut = new Uint8Array(end + option.length);
  cut.set(answer.subarray(0, end));
  cut.set(option, end);
  cut[2] = byteAt(answer, 2) | FLAG.truncated;
  cut.set([kept >> 8, kept & 255, 0, 0, 0, option.length > 0 ? 1 : 0], 6);
  return cut;
}
