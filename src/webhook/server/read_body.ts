/** Reads request bodies within limits of size, time, number and memory. */
import { networkOf } from "../../golang/net/mod.ts";
import type { Clock } from "../../platform/world.ts";

/** Limits for one request body, and for all bodies that are being read. */
export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
  /** Time limit for a body of at most {@link SMALL} bytes. */
  readonly smallMilliseconds: number;
  /** Maximum bytes of all bodies together. If exceeded, the largest body is dropped. */
  readonly bytesInFlight: number;
  /** Maximum number of incomplete bodies. If exceeded, the oldest body is dropped. */
  readonly bodies: number;
  /** Maximum number of incomplete bodies from one client address. */
  readonly bodiesOfAddress: number;
}

/** The reason why a body could not be read. */
export type BodyProblem = "too large" | "too slow" | "broken off" | "given up";

/** Maximum size of a body that is read in one piece, if its content-length is known. Stream chunks have 64 KiB. */
const SMALL = 64 * 1024;

/**
 * Multiple of the size limit up to which a too large body is read and discarded, because many clients read the response only
 * after sending the whole body.
 */
const MAX_READ = 4;

/** Growth factor of the buffer for a large body. */
const GROWTH = 2;

/** A body that is being read. */
interface Reading {
  readonly network: string;
  held: number;
  giveUp(): void;
}

/** Reads the body of a request. Resolves with the reason if the body cannot be read. `remote`: the client's address. */
export type ReadBody = (request: Request, remote: string) => Promise<Uint8Array | BodyProblem>;

/** Returns a function that reads bodies. All bodies share the limits. */
export function bodyReader(limits: BodyLimits, clock: Clock): ReadBody {
  /** Bodies that are being read, oldest first. */
  const readings = new Set<Reading>();
  let held = 0;
  const hold = (reading: Reading, bytes: number) => {
    held += bytes - reading.held;
    reading.held = bytes;
    for (let most = largest(readings); held > limits.bytesInFlight && most !== undefined; most = largest(readings)) {
      release(most);
      most.giveUp();
    }
  };
  const release = (reading: Reading) => {
    if (readings.delete(reading)) held -= reading.held;
    reading.held = 0;
  };
  const begin = (reading: Reading) => {
    readings.add(reading);
    const ofAddress = [...readings].filter(({ network }) => network === reading.network);
    const oldest = ofAddress.length > limits.bodiesOfAddress
      ? ofAddress[0]
      : readings.size > limits.bodies
      ? [...readings][0]
      : undefined;
    if (oldest === undefined) return;
    release(oldest);
    oldest.giveUp();
  };
  return async (request, remote) => {
    if (request.body === null) return new Uint8Array();
    const length = Number(request.headers.get("content-length") ?? 0);
    if (length > MAX_READ * limits.bytes) return "too large";
    const { promise: givenUp, resolve } = Promise.withResolvers<"given up">();
    const reading: Reading = { network: networkOf(remote), held: 0, giveUp: () => resolve("given up") };
    begin(reading);
    const isSmall = length > 0 && length <= Math.min(SMALL, limits.bytes);
    const time = isSmall ? limits.smallMilliseconds : limits.milliseconds;
    try {
      if (isSmall) return await inTime([readSmall(request, length, reading, hold), givenUp], time, clock);
      const reader = request.body.getReader();
      const grow = (bytes: number) => {
        if (readings.has(reading)) hold(reading, bytes);
        return readings.has(reading);
      };
      const result = await inTime([collect(reader, limits.bytes, grow), givenUp], time, clock);
      if (typeof result === "string") reader.cancel().catch(() => {});
      return result;
    } finally {
      release(reading);
    }
  };
}

function largest(readings: Iterable<Reading>): Reading | undefined {
  let most: Reading | undefined;
  for (const each of readings) if (most === undefined || each.held > most.held) most = each;
  return most;
}

async function readSmall(
  request: Request,
  length: number,
  reading: Reading,
  hold: (reading: Reading, bytes: number) => void,
): Promise<Uint8Array | BodyProblem> {
  hold(reading, length);
  return await request.bytes().catch((): BodyProblem => "broken off");
}

/** Abort reason. A string is cheaper than an `Error` object for each request. */
const DONE = "done";

async function inTime<T>(work: readonly Promise<T>[], milliseconds: number, clock: Clock): Promise<T | "too slow"> {
  const done = new AbortController();
  const late = clock.sleep(milliseconds, done.signal).then(() => "too slow" as const);
  const result = await Promise.race([...work, late]);
  done.abort(DONE);
  return result;
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  grow: (bytes: number) => boolean,
): Promise<Uint8Array | BodyProblem> {
  const buffer = growingBuffer(most, grow);
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size > MAX_READ * most) return "too large";
      if (!buffer.add(next.value)) return "given up";
    }
  } catch {
    // The client closed the connection or reset the stream.
    return "broken off";
  }
  return size > most ? "too large" : buffer.bytes();
}

/**
 * Copies chunks into one growing buffer, because even a chunk of one byte would keep 64 KiB of memory. After more than `most`
 * bytes, the buffer is emptied. `add` returns false if `grow` does not allow the memory.
 */
function growingBuffer(most: number, grow: (bytes: number) => boolean) {
  let buffer = new Uint8Array(0);
  let size = 0;
  function reserve(bytes: number): boolean {
    if (bytes <= buffer.length) return true;
    const grown = Math.min(most, Math.max(bytes, buffer.length * GROWTH));
    if (!grow(grown)) return false;
    const before = buffer;
    buffer = new Uint8Array(grown);
    buffer.set(before);
    return true;
  }
  return {
    add(piece: Uint8Array): boolean {
      const start = size;
      size += piece.length;
      if (size > most) {
        buffer = new Uint8Array(0);
        return grow(0);
      }
      if (!reserve(size)) return false;
      buffer.set(piece, start);
      return true;
    },
    bytes: () => buffer.subarray(0, size),
  };
}
