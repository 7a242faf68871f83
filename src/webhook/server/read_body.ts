/** The body of a request within limits of size, time and memory. */
import { joinBytes } from "../../core/bytes.ts";
import type { Clock } from "../../core/world/world.ts";

/** Limits of one body. */
export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** A share of the memory for all bodies. */
export interface Room {
  /** Takes bytes; `false` if too few are left. */
  take(bytes: number): boolean;
  /** Returns all taken bytes. */
  leave(): void;
}

/** Makes rooms that share a number of bytes. */
export function roomsOf(bytes: number): () => Room {
  let left = bytes;
  return () => {
    let taken = 0;
    return {
      take(count) {
        if (count > left) return false;
        left -= count;
        taken += count;
        return true;
      },
      leave() {
        left += taken;
        taken = 0;
      },
    };
  };
}

export interface BodyMeans {
  readonly clock: Clock;
  readonly room: Room;
}

/** Why there is no body. */
export type BodyProblem = "too large" | "too slow" | "broken off" | "no room";

/** For a body up to this size the room is taken at once, by its content-length. */
const SMALL = 64 * 1024;

/** Many clients read the answer only after they have sent the body: of a large one up to this many limits are read. */
const PATIENCE = 4;

/** Reads the body of a request; a text says why it cannot be read. */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  { clock, room }: BodyMeans,
): Promise<Uint8Array | BodyProblem> {
  const { body } = request;
  if (body === null) return new Uint8Array();
  const length = Number(request.headers.get("content-length") ?? 0);
  if (length > PATIENCE * limits.bytes) return "too large";
  if (length > 0 && length <= Math.min(SMALL, limits.bytes)) {
    return await readSmall(request, length, limits, { clock, room });
  }
  const reader = body.getReader();
  const result = await inTime(collect(reader, limits.bytes, room), limits.milliseconds, clock);
  if (typeof result === "string") reader.cancel().catch(() => {});
  return result;
}

/** A small body with a content-length is read in one piece: pieces of a stream have 64 KiB, half of all garbage. */
async function readSmall(
  request: Request,
  length: number,
  { milliseconds }: BodyLimits,
  { clock, room }: BodyMeans,
): Promise<Uint8Array | BodyProblem> {
  if (!room.take(length)) return "no room";
  return await inTime(request.bytes().catch((): BodyProblem => "broken off"), milliseconds, clock);
}

/** A text as abort reason avoids an `Error` object for each request. */
const DONE = "done";

async function inTime<T>(work: Promise<T>, milliseconds: number, clock: Clock): Promise<T | "too slow"> {
  const done = new AbortController();
  const late = clock.sleep(milliseconds, done.signal).then(() => "too slow" as const);
  const result = await Promise.race([work, late]);
  done.abort(DONE);
  return result;
}

async function collect(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  most: number,
  room: Room,
): Promise<Uint8Array | BodyProblem> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      size += next.value.length;
      if (size <= most && !room.take(next.value.length)) return "no room";
      if (size <= most) pieces.push(next.value);
      else pieces.length = 0;
      if (size > PATIENCE * most) return "too large";
    }
  } catch {
    return "broken off";
  }
  return size > most ? "too large" : joinBytes(pieces);
}
