import type { World } from "../platform/world.ts";
import type { WaitOptions } from "./options.ts";
import { type Probe, probe } from "./probe.ts";

export interface Outcome {
  readonly waited: number;
  /** The last response of each URL that is not ready; empty if all URLs are ready. */
  readonly unready: ReadonlyMap<string, Probe>;
}

/** Milliseconds at the start of the wait in which requests are frequent. A proxy usually starts within seconds. */
const EARLY = 5_000;
const EARLY_PAUSE = 50;
/** Each time this many milliseconds have passed, the pause between requests grows by one millisecond. */
const GROWTH = 100;

/** Returns the pause before the next request: 50 ms at first, later up to `period`. */
export function pauseAfter(waited: number, period: number): number {
  return Math.min(period, EARLY_PAUSE + Math.max(0, waited - EARLY) / GROWTH);
}

/** Minimum timeout of a request that is sent shortly before the end of the wait, in milliseconds. */
const SHORTEST_REQUEST = 50;

/**
 * Polls each URL until it has been ready once. Calls `report` after each round with unready URLs. An aborted signal
 * stops the polling early.
 */
export async function poll(
  world: World,
  options: Pick<WaitOptions, "urls" | "timeout" | "period" | "requestTimeout">,
  report: (unready: Outcome["unready"]) => Promise<void>,
  signal?: AbortSignal,
): Promise<Outcome> {
  const { timeout, period } = options;
  const start = world.clock.monotonic();
  const waited = () => world.clock.monotonic() - start;
  for (let urls = options.urls;;) {
    const sent = waited();
    const unready = await round(world, urls, requestLimit(options, sent));
    const now = waited();
    if (unready.size === 0 || now >= timeout || signal?.aborted) return { waited: now, unready };
    await report(unready);
    urls = [...unready.keys()];
    await world.clock.sleep(Math.max(0, Math.min(sent + pauseAfter(now, period), timeout) - waited()), signal);
  }
}

function requestLimit({ timeout, requestTimeout }: Pick<WaitOptions, "timeout" | "requestTimeout">, sent: number) {
  if (timeout === 0) return requestTimeout;
  return Math.min(requestTimeout, Math.max(SHORTEST_REQUEST, Math.ceil(timeout - sent)));
}

async function round(world: World, urls: readonly string[], limit: number): Promise<Outcome["unready"]> {
  const probes = await Promise.all(urls.map(async (url) => [url, await probe(world, url, limit)] as const));
  return new Map(probes.filter(([, { stage }]) => stage !== "ready"));
}
