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
  const reader = body.getReader();
  const done = new AbortController();
  const late = clock.sleep(limits.milliseconds, done.signal).then((): BodyProblem => "too slow");
  const result = await Promise.race([collect(reader, limits.bytes, room), late]);
  done.abort();
  // What still comes is not waited for.
  if (typeof result === "string") reader.cancel().catch(() => {});
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
