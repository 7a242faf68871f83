import type { ConnectionLimits } from "../../http.ts";

/** A connection in the table. */
export interface HeldConnection {
  /** The IP address of the client. */
  readonly remote: string;
  /** A byte was copied. */
  moved(): void;
  /** A request arrived. */
  asked(): void;
  /** The connection ended. */
  ended(): void;
}

/** The connections of a server, within their limits. */
export interface ConnectionTable {
  readonly size: number;
  /** Adds a connection; `close` is called when it exceeds a limit. */
  hold(remote: string, close: () => void): HeldConnection;
  /** Closes connections that are idle or without a request for too long; to be called periodically. */
  sweep(): void;
  closeAll(): void;
}

interface Entry {
  readonly close: () => void;
  readonly since: number;
  lastMoved: number;
  hasAsked: boolean;
}

/** Milliseconds in which a connection keeps its place in the order: busy ones would otherwise move with each byte. */
const COARSE = 1000;

/** A table of connections; `now` is a monotonic clock in milliseconds. */
export function connectionTable(limits: ConnectionLimits, now: () => number): ConnectionTable {
  /** In the order of their last byte, the idlest first. */
  const entries = new Set<Entry>();
  const drop = (entry: Entry) => {
    entries.delete(entry);
    entry.close();
  };
  return {
    get size() {
      return entries.size;
    },
    hold(remote, close) {
      const [idlest] = entries;
      if (entries.size >= limits.most && idlest !== undefined) drop(idlest);
      const entry: Entry = { close, since: now(), lastMoved: now(), hasAsked: false };
      entries.add(entry);
      return {
        remote,
        moved: () => touch(entries, entry, now()),
        asked: () => void (entry.hasAsked = true),
        ended: () => void entries.delete(entry),
      };
    },
    sweep() {
      const time = now();
      for (const entry of [...entries]) if (isOverdue(entry, limits, time)) drop(entry);
    },
    closeAll: () => [...entries].forEach(drop),
  };
}

function touch(entries: Set<Entry>, entry: Entry, time: number): void {
  if (time - entry.lastMoved < COARSE || !entries.delete(entry)) return;
  entry.lastMoved = time;
  entries.add(entry);
}

function isOverdue({ since, lastMoved, hasAsked }: Entry, limits: ConnectionLimits, time: number): boolean {
  return time - lastMoved > limits.silence || (!hasAsked && time - since > limits.firstRequest);
}
