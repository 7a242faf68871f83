import type { World } from "../core/world/world.ts";
import type { WaitOptions } from "./options.ts";
import { type Probe, probe } from "./probe.ts";

/** What came of waiting. */
export interface Outcome {
  /** Milliseconds. */
  readonly waited: number;
  /** What the last question showed of each URL that is not ready; empty if all are. */
  readonly unready: ReadonlyMap<string, Probe>;
}

/** A start is over in seconds: for so long the proxy is asked often, and then ever less often. */
const EARLY = 5_000;
const EARLY_PAUSE = 50;
/** Milliseconds of waiting for each millisecond by which the pause grows. */
const GROWTH = 100;

/** The pause before the next question, after so long: 50 ms at first, later rising to the period. */
export function pauseAfter(waited: number, period: number): number {
  return Math.min(period, EARLY_PAUSE + Math.max(0, waited - EARLY) / GROWTH);
}

/** A question that is asked just before the end has at least so long for its answer. */
const SHORTEST_REQUEST = 50;

/**
 * Asks each URL until it was ready once, the first time at once; `report` hears of every round that leaves some unready.
 * An aborted signal ends it early.
 */
export async function poll(
  world: World,
  options: Pick<WaitOptions, "urls" | "timeout" | "period" | "requestTimeout">,
  report: (unready: Outcome["unready"]) => Promise<void>,
  signal: AbortSignal,
): Promise<Outcome> {
  const { timeout, period } = options;
  const start = world.clock.monotonic();
  const waited = () => world.clock.monotonic() - start;
  for (let urls = options.urls;;) {
    const asked = waited();
    const unready = await round(world, urls, requestLimit(options, asked));
    const now = waited();
    if (unready.size === 0 || now >= timeout || signal.aborted) return { waited: now, unready };
    await report(unready);
    urls = [...unready.keys()];
    await world.clock.sleep(Math.max(0, Math.min(asked + pauseAfter(now, period), timeout) - waited()), signal);
  }
}

function requestLimit({ timeout, requestTimeout }: Pick<WaitOptions, "timeout" | "requestTimeout">, asked: number) {
  if (timeout === 0) return requestTimeout;
  return Math.min(requestTimeout, Math.max(SHORTEST_REQUEST, Math.ceil(timeout - asked)));
}

/** Asks several at the same time. */
async function round(world: World, urls: readonly string[], limit: number): Promise<Outcome["unready"]> {
  const probes = await Promise.all(urls.map(async (url) => [url, await probe(world, url, limit)] as const));
  return new Map(probes.filter(([, { stage }]) => stage !== "ready"));
}
