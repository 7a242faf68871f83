/** Cache of upstream answers, which are kept as long as their TTL allows (RFC 1035, 2308). */
import { binaryOf } from "../../../base/bytes.ts";
import { byteAt, countsOf, FLAG, nameEnd, type Query, readRecords, TYPE, uint16 } from "../wire.ts";

/** Maximum time in the cache, in seconds. `absent` is for answers without a record of the requested type. */
const MAX_SECONDS = { found: 3600, absent: 300 } as const;
const MAX_ANSWER = 16 * 1024;
/** Estimated size of an entry's objects, in bytes. */
const ENTRY_BYTES = 200;

/**
 * Length of an EDNS record without options. Questions with options, such as a cookie or a client subnet, are not
 * cached.
 */
const PLAIN_OPT_LENGTH = 11;
/** The first of the meta types (TSIG, AXFR, ANY), which are never cached. */
const FIRST_META_TYPE = 249;

/** Returns the parts of a question that determine its answer; `undefined` for questions that are not cached. */
export function cacheKey({ bytes, name, type, questionEnd }: Query): string | undefined {
  const rest = bytes.length - questionEnd;
  if (type === undefined || type >= FIRST_META_TYPE || (rest !== 0 && rest !== PLAIN_OPT_LENGTH)) return undefined;
  return String.fromCharCode(byteAt(bytes, 2), byteAt(bytes, 3)) + name + binaryOf(bytes.subarray(questionEnd - 4));
}

interface Contents {
  readonly seconds: number;
  readonly ttls: readonly number[];
  readonly addresses: readonly number[];
}

interface Entry extends Contents {
  readonly answer: Uint8Array;
  /** Time at which the answer was cached, in milliseconds. */
  readonly at: number;
}

export interface CacheOptions {
  readonly maxBytes: number;
  readonly now: () => number;
  readonly random: () => number;
}

export class AnswerCache {
  /** Cached answers, least recently used first. */
  readonly #entries = new Map<string, Entry>();
  #bytes = 0;

  constructor(private readonly options: CacheOptions) {}

  /**
   * Returns a copy of the answer with the remaining TTLs and rotated addresses; `undefined` if the cache has no answer.
   */
  find(key: string): Uint8Array | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#delete(key, entry);
    const age = Math.floor((this.options.now() - entry.at) / 1000);
    if (age >= entry.seconds) return undefined;
    this.#add(key, entry);
    return aged(entry, age, this.options.random);
  }

  put(key: string, answer: Uint8Array, query: Query): void {
    const contents = answer.length > MAX_ANSWER ? undefined : contentsOf(answer, query);
    if (contents === undefined) return;
    const before = this.#entries.get(key);
    if (before !== undefined) this.#delete(key, before);
    this.#add(key, { ...contents, answer: new Uint8Array(answer), at: this.options.now() });
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.options.maxBytes) break;
      this.#delete(oldest, entry);
    }
  }

  clear(): void {
    this.#entries.clear();
    this.#bytes = 0;
  }

  get size(): number {
    return this.#entries.size;
  }

  #add(key: string, entry: Entry): void {
    this.#entries.set(key, entry);
    this.#bytes += sizeOf(key, entry);
  }

  #delete(key: string, entry: Entry): void {
    this.#entries.delete(key);
    this.#bytes -= sizeOf(key, entry);
  }
}

function sizeOf(key: string, { answer }: Entry): number {
  return key.length + answer.length + ENTRY_BYTES;
}

function aged({ answer, ttls, addresses }: Entry, age: number, random: () => number): Uint8Array {
  const bytes = new Uint8Array(answer);
  const view = new DataView(bytes.buffer);
  for (const at of ttls) view.setUint32(at, Math.max(view.getUint32(at) - age, 0));
  const [first = 0, next = first] = addresses;
  if (next === first) return bytes;
  const width = uint16(answer, first - 2);
  const turn = Math.floor(random() * addresses.length);
  for (const [index, at] of addresses.entries()) {
    const from = addresses[(index + turn) % addresses.length] ?? at;
    bytes.set(answer.subarray(from, from + width), at);
  }
  return bytes;
}

const RCODE = 0x0f;
const NXDOMAIN = 3;
const SOA = 6;
/** Maximum TTL. Values outside 0 to 2^31 - 1 count as 0 (RFC 2181). */
const MAX_TTL = 0x7fff_ffff;

/**
 * Returns the parts of an answer that the cache needs; `undefined` for answers that must not be cached: errors,
 * truncated answers, and answers with a TTL of 0 or with neither records nor an SOA (RFC 2308).
 */
function contentsOf(answer: Uint8Array, { type: asked, questionEnd }: Query): Contents | undefined {
  const records = fieldsOf(answer, questionEnd);
  const seconds = secondsOf(answer, records);
  if (seconds === undefined || seconds === 0) return undefined;
  const [, answers] = countsOf(answer);
  const addresses = records.filter(({ type, index }) => index < answers && type === asked && ADDRESSES.has(type));
  return { seconds, ttls: records.map(({ ttlAt }) => ttlAt), addresses: addresses.map(({ dataAt }) => dataAt) };
}

function secondsOf(answer: Uint8Array, records: readonly RecordFields[]): number | undefined {
  const rcode = byteAt(answer, 3) & RCODE;
  const isCut = (byteAt(answer, 2) & FLAG.truncated) !== 0;
  const [questions, answers, authorities] = countsOf(answer);
  if (isCut || (rcode !== 0 && rcode !== NXDOMAIN) || questions !== 1) return undefined;
  const soa = records.find(({ type, index }) => type === SOA && index >= answers && index < answers + authorities);
  const isAbsent = rcode === NXDOMAIN || answers === 0;
  if (isAbsent && soa === undefined) return undefined;
  // The last field of a SOA record limits negative caching.
  const times = [...records.map(({ ttlAt }) => ttlAt), ...soa === undefined ? [] : [soa.end - 4]];
  const view = new DataView(answer.buffer, answer.byteOffset, answer.byteLength);
  const limits = times.map((at) => view.getUint32(at)).map((ttl) => ttl > MAX_TTL ? 0 : ttl);
  return Math.min(isAbsent ? MAX_SECONDS.absent : MAX_SECONDS.found, ...limits);
}

const ADDRESSES: ReadonlySet<number> = new Set([TYPE.A, TYPE.AAAA]);

/** Type of a record, and offsets of its parts in the message. */
interface RecordFields {
  readonly index: number;
  readonly type: number;
  readonly ttlAt: number;
  readonly dataAt: number;
  readonly end: number;
}

function fieldsOf(answer: Uint8Array, questionEnd: number): readonly RecordFields[] {
  const [, answers, authorities, more] = countsOf(answer);
  const { bounds = [] } = readRecords(answer, questionEnd, answers + authorities + more) ?? {};
  return bounds.slice(0, -1).map((start, index) => {
    // Offset of the fixed fields after the name: type, class, TTL, length; the data follows.
    const fixed = nameEnd(answer, start);
    const [type, end] = [uint16(answer, fixed), bounds[index + 1] ?? fixed];
    return { index, type, ttlAt: fixed + 4, dataAt: fixed + 10, end };
  }).filter(({ type }) => type !== TYPE.OPT);
}
