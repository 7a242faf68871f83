import type { Clock } from "../../core/world/world.ts";

/** What a body may cost. */
export interface BodyLimits {
  readonly bytes: number;
  readonly milliseconds: number;
}

/** Room for bodies that are in memory at the same time. */
export interface Room {
  /** Takes so many bytes; `false` if there are not so many left. */
  take(bytes: number): boolean;
  /** Gives back what was taken. */
  leave(): void;
}

/** Makes rooms that share so many bytes. */
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

/** What reading costs: time is that of the clock, memory that of the room. */
export interface BodyMeans {
  readonly clock: Clock;
  readonly room: Room;
}

/** Why there is no body. */
export type BodyProblem = "too large" | "too slow" | "broken off" | "no room";

/** Room is taken for what a small body is told to have, not for what has come of it: all that there may be at once are little. */
const SMALL = 64 * 1024;

/** Many clients read no answer before they have sent their body: of one that is too large so many times the limit is read. */
const PATIENCE = 4;

/** The body of a request, or why it could not be had. */
export async function readBody(
  request: Request,
  limits: BodyLimits,
  { clock, room }: BodyMeans,
): Promise<Uint8Array | BodyProblem> {
  const { body } = request;
  if (body === null) return new Uint8Array();
  const told = Number(request.headers.get("content-length") ?? 0);
  if (told > PATIENCE * limits.bytes) return "too large";
  if (told > 0 && told <= Math.min(SMALL, limits.bytes)) return await readSmall(request, told, limits, { clock, room });
  const reader = body.getReader();
  const result = await inTime(collect(reader, limits.bytes, room), limits.milliseconds, clock);
  // What still comes is not waited for.
  if (typeof result === "string") reader.cancel().catch(() => {});
  return result;
}

/** A body whose length is told is read in one piece: that of a stream has 64 KiB, which were half of all garbage. */
async function readSmall(
  request: Request,
  told: number,
  { milliseconds }: BodyLimits,
  { clock, room }: BodyMeans,
): Promise<Uint8Array | BodyProblem> {
  if (!room.take(told)) return "no room";
  return await inTime(request.bytes().catch((): BodyProblem => "broken off"), milliseconds, clock);
}

/** A reason that is no error spares the making of one for each request. */
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
  return size > most ? "too large" : joined(pieces, size);
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces;
  if (first !== undefined && pieces.length === 1) return first;
  const all = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    all.set(piece, at);
    at += piece.length;
  }
  return all;
}
