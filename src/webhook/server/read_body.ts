/** The bodies of requests within limits of size, time, number and memory. */
import { networkOf } from "../../golang/net/mod.ts";
import type { Clock } from "../../platform/world.ts";

/** Limits of one body and of all that are being read. */
export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
  /** For a body of up to {@link SMALL} bytes. */
  readonly smallMilliseconds: number;
  /** Maximum bytes of all bodies; above it, the body that holds most is given up. */
  readonly bytesInFlight: number;
  /** Maximum number of incomplete bodies; above it, the oldest is given up. */
  readonly bodies: number;
  /** The same for each client address. */
  readonly bodiesOfAddress: number;
}

/** Why there is no body. */
export type BodyProblem = "too large" | "too slow" | "broken off" | "given up";

/** A body of this size is read in one piece, if its content-length is known: pieces of a stream have 64 KiB. */
const SMALL = 64 * 1024;

/**
 * Many clients read the answer only after sending the body: a body that is too large is read up to this multiple of the
 * limit.
 */
const MAX_READ = 4;

/** The factor by which the memory of a large body grows. */
const GROWTH = 2;

/** A body that is being read. */
interface Reading {
  readonly network: string;
  held: number;
  giveUp(): void;
}

/** Reads the body of a request of a client; a text says why it cannot be read. */
export type ReadBody = (request: Request, remote: string) => Promise<Uint8Array | BodyProblem>;

/** Reads bodies that share limits. */
export function bodyReader(limits: BodyLimits, clock: Clock): ReadBody {
  /** The oldest first. */
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

/** A text as abort reason avoids an `Error` object for each request. */
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
    // The client closed the connection, or reset the stream.
    return "broken off";
  }
  return size > most ? "too large" : buffer.bytes();
}

/**
 * Copies pieces into one buffer that grows with them: a piece of one byte keeps 64 KiB. Beyond `most` bytes it is empty. `add` is
 * false when the memory is not granted.
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
