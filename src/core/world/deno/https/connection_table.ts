import type { ConnectionLimits } from "../../http.ts";

/** A connection that is held. */
export interface HeldConnection {
  /** The address, without port, of who asks. */
  readonly remote: string;
  /** A byte has passed. */
  moved(): void;
  /** A request was made. */
  asked(): void;
  /** It has ended by itself. */
  ended(): void;
}

/** The connections of a server, within their limits. */
export interface ConnectionTable {
  readonly size: number;
  /** Takes a connection up; `close` is called when it has to go. */
  hold(remote: string, close: () => void): HeldConnection;
  /** Closes those that have been silent or without a request for too long; to be called every so often. */
  sweep(): void;
  closeAll(): void;
}

interface Entry {
  readonly close: () => void;
  readonly since: number;
  lastMoved: number;
  hasAsked: boolean;
}

/** Keeps a connection's place among the silent ones for as long: busy ones would otherwise move with each byte. */
const COARSE = 1000;

/** A table of connections; `now` are milliseconds that never go back. */
export function connectionTable(limits: ConnectionLimits, now: () => number): ConnectionTable {
  /** In the order of their last byte, the most silent first. */
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
      const [mostSilent] = entries;
      if (entries.size >= limits.most && mostSilent !== undefined) drop(mostSilent);
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
