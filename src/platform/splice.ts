/** Copies bytes between two connections. */
import type { ByteConnection } from "./connection.ts";

/** The buffer per direction: the size of a TLS record or some frames of HTTP/2. */
const BUFFER_BYTES = 16 * 1024;

/** The side that ended first. */
export interface SpliceEnd {
  readonly side: "one" | "other";
  /** The error that broke it; `undefined` if it was closed. */
  readonly error: unknown;
}

/**
 * Copies both ways until a side ends or breaks, then closes both: HTTP/2 cannot use a half-closed connection. Holds at
 * most one buffer per direction: while a side does not read, the other is not read. Never rejects.
 */
export async function splice(one: ByteConnection, other: ByteConnection): Promise<SpliceEnd> {
  const ends = { one, other };
  const first = Promise.withResolvers<SpliceEnd>();
  const directions = [copy(ends, "one", "other"), copy(ends, "other", "one")];
  for (const direction of directions) direction.then(first.resolve);
  const end = await first.promise;
  one.close();
  other.close();
  await Promise.all(directions);
  return end;
}

type Side = SpliceEnd["side"];

async function copy(ends: Readonly<Record<Side, ByteConnection>>, from: Side, to: Side): Promise<SpliceEnd> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  let side = from;
  try {
    for (;;) {
      side = from;
      const count = await ends[from].read(buffer);
      if (count === null) return { side, error: undefined };
      side = to;
      for (let sent = 0; sent < count;) sent += await ends[to].write(buffer.subarray(sent, count));
    }
  } catch (error) {
    return { side, error };
  }
}
