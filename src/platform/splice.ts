/** Copies bytes between two connections. */
import type { ByteConnection } from "./connection.ts";

/** Buffer size per direction, in bytes: one TLS record or a few HTTP/2 frames. */
const BUFFER_BYTES = 16 * 1024;

/** The side that closed or broke first. */
export interface SpliceEnd {
  readonly side: "one" | "other";
  /** The error that broke the connection; `undefined` if the side closed it. */
  readonly error: unknown;
}

/**
 * Copies bytes in both directions until a side closes or breaks, then closes both, because HTTP/2 cannot use a
 * half-closed connection. Buffers at most 16 KiB per direction and stops reading from one side while the other side
 * does not read. Never rejects.
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
