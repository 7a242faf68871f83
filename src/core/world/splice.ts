/** Bytes of one connection to another and back. */
import type { ByteConnection } from "./connection.ts";

/** All that is held of a direction: what a TLS record or some frames of HTTP/2 have. */
const BUFFER_BYTES = 16 * 1024;

/** What ended it first. */
export interface SpliceEnd {
  readonly side: "one" | "other";
  /** Why it broke; `undefined` if it came to its end. */
  readonly error: unknown;
}

/**
 * Copies both ways until a side ends or breaks, and closes both then: what HTTP/2 needs, where a half of a connection is of
 * no use. A side that does not read is not read for: at most a buffer of each direction is held. Never rejects.
 */
export async function splice(one: ByteConnection, other: ByteConnection): Promise<SpliceEnd> {
  const ends = { one, other };
  const first = Promise.withResolvers<SpliceEnd>();
  const ways = [copy(ends, "one", "other"), copy(ends, "other", "one")];
  for (const way of ways) way.then(first.resolve);
  const end = await first.promise;
  one.close();
  other.close();
  await Promise.all(ways);
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
