import { networkOf } from "../../../../golang/net/mod.ts";
import type { ConnectionLimits } from "../../../http.ts";

export interface HeldConnection {
  readonly remote: string;
  /**
   * Records the number of bytes read from the client. Wait for the promise, if one is returned, before reading more.
   */
  received(count: number): Promise<void> | undefined;
  /** Records that bytes were copied to the client. */
  moved(): void;
  /** Records that the head of a request arrived. */
  asked(): void;
  /**
   * Records that the body of a request is complete and the client waits for the response. Call the returned function when the wait
   * ends.
   */
  waits(): () => void;
  /** Records that a request counted by {@link asked} ended. */
  answered(): void;
  ended(): void;
}

/** The connections of a server, within their limits. */
export interface ConnectionTable {
  readonly size: number;
  /** Adds a connection. Calls `close` when the connection exceeds a limit, possibly before `hold` returns. */
  hold(remote: string, close: () => void): HeldConnection;
  /** Closes connections that are idle or without a request for too long. Call this every second. */
  sweep(): void;
  closeAll(): void;
}

interface Entry {
  readonly close: () => void;
  readonly network: string;
  readonly since: number;
  lastMoved: number;
  hasAsked: boolean;
  /** Number of requests without a response. */
  open: number;
  /** Number of these requests with a complete body. */
  waiting: number;
  /** Bytes from the client outside of requests. */
  outside: number;
  /** Set while reading is paused because the client sent too much outside of requests. `resume` continues reading. */
  paused: { readonly since: number; readonly resume: () => void } | undefined;
}

/**
 * Minimum milliseconds between two moves of a connection in the order of idleness. Busy connections would otherwise
 * move with each byte.
 */
const COARSE = 1000;

/** Milliseconds within which the server must find the head of a request in the bytes of a client. */
const HEAD_TIME = 2000;

/** A table of connections; `now` is a monotonic clock in milliseconds. */
export function connectionTable(limits: ConnectionLimits, now: () => number): ConnectionTable {
  /** All connections, ordered by the time of their last byte, the idlest first. */
  const entries = new Set<Entry>();
  /** Number of new connections per client network since the last sweep. */
  const arrivals = new Map<string, number>();
  const drop = (entry: Entry) => {
    if (entries.delete(entry)) entry.close();
    resume(entry);
  };
  const admit = (entry: Entry) => {
    entries.add(entry);
    const crowded = overLimit(entries, entry.network, limits);
    // If there is no victim, all older connections of this network wait for responses: close the new connection.
    if (crowded !== undefined) drop(victim(entries, crowded, entry) ?? entry);
  };
  return {
    get size() {
      return entries.size;
    },
    hold(remote, close) {
      const time = now();
      const network = networkOf(remote);
      const arrived = (arrivals.get(network) ?? 0) + 1;
      arrivals.set(network, arrived);
      const start = { close, network, since: time, lastMoved: time };
      const entry: Entry = { ...start, hasAsked: false, open: 0, waiting: 0, outside: 0, paused: undefined };
      if (arrived > limits.newOfAddress) close();
      else admit(entry);
      return heldOf(entry, remote, { entries, now, limits });
    },
    sweep() {
      const time = now();
      arrivals.clear();
      for (const entry of [...entries]) if (isOverdue(entry, limits, time)) drop(entry);
    },
    closeAll: () => [...entries].forEach(drop),
  };
}

interface Means {
  readonly entries: Set<Entry>;
  readonly now: () => number;
  readonly limits: ConnectionLimits;
}

function heldOf(entry: Entry, remote: string, { entries, now, limits }: Means): HeldConnection {
  const moved = () => touch(entries, entry, now());
  return {
    remote,
    moved,
    received(count) {
      moved();
      if (entry.open > 0 || !entries.has(entry)) return undefined;
      entry.outside += count;
      if (entry.outside <= limits.headBytes) return undefined;
      const { promise, resolve } = Promise.withResolvers<void>();
      entry.paused = { since: now(), resume: resolve };
      return promise;
    },
    asked() {
      entry.hasAsked = true;
      entry.open++;
      entry.outside = 0;
      resume(entry);
    },
    waits() {
      let isOver = false;
      entry.waiting++;
      return () => {
        if (!isOver) entry.waiting--;
        isOver = true;
      };
    },
    answered: () => void entry.open--,
    ended() {
      entries.delete(entry);
      resume(entry);
    },
  };
}

function resume(entry: Entry): void {
  entry.paused?.resume();
  entry.paused = undefined;
}

/** Returns the network if it has too many connections. If the total is too high, returns the network with the most connections. */
function overLimit(entries: Set<Entry>, network: string, limits: ConnectionLimits): string | undefined {
  const counts = new Map<string, number>();
  for (const entry of entries) counts.set(entry.network, (counts.get(entry.network) ?? 0) + 1);
  if ((counts.get(network) ?? 0) > limits.mostOfAddress) return network;
  if (entries.size <= limits.most) return undefined;
  return [...counts].reduce((most, each) => each[1] > most[1] ? each : most)[0];
}

/**
 * Returns the connection of this network to close: the idlest without a request in flight. Prefers connections that
 * never sent a request.
 */
function victim(entries: Set<Entry>, network: string, newest: Entry): Entry | undefined {
  const found = [...entries].filter((each) => each.network === network && each !== newest && each.waiting === 0);
  return found.find(({ hasAsked }) => !hasAsked) ?? found.find(({ open }) => open === 0) ?? found[0];
}

function touch(entries: Set<Entry>, entry: Entry, time: number): void {
  if (time - entry.lastMoved < COARSE || !entries.delete(entry)) return;
  entry.lastMoved = time;
  entries.add(entry);
}

function isOverdue(entry: Entry, limits: ConnectionLimits, time: number): boolean {
  const { since, lastMoved, hasAsked, paused } = entry;
  if (paused !== undefined && time - paused.since > HEAD_TIME) return true;
  return time - lastMoved > limits.silence || (!hasAsked && time - since > limits.firstRequest);
}
