import { MeshError, messageOf } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { clientConnections, type Count, forwardedRequests } from "./active_counts.ts";

const TIMEOUT_MILLISECONDS = 2000;
/** `/clusters` of a large mesh has some megabytes. */
const MAX_ANSWER = 64 << 20;

/** Envoy's admin interface. Every call rejects with `MeshError` on failure. */
export interface EnvoyAdmin {
  /** Listeners are open and configured. */
  isLive(epoch: number): Promise<boolean>;
  /**
   * Connections are closed, and listeners after Envoy's drain time unless kept open (Envoy's docs: `drain_listeners`).
   */
  drainListeners(options: { readonly inboundOnly: boolean; readonly keepOpen: boolean }): Promise<void>;
  /** -1 without such statistics. */
  clientConnections(): Promise<number>;
  /** Including connections in flight; -1 without clusters. */
  forwardedRequests(): Promise<number>;
}

/** `ownPorts`: health and metrics. */
export function envoyAdmin(world: World, url: string, ownPorts: readonly number[]): EnvoyAdmin {
  const ask = async (path: string, method: "GET" | "POST" = "GET") =>
    (await request(world, url + path, [200], method)).text;
  const total = async (path: string, count: Count) => {
    for (const line of (await ask(path)).split("\n")) count.add(line);
    return count.total();
  };
  return {
    // `/server_info` is long: ask only when Envoy is ready.
    isLive: async (epoch) => await isReady(world, url) && isLive(await ask("/server_info"), epoch),
    async drainListeners({ inboundOnly, keepOpen }) {
      const options = [inboundOnly ? "inboundonly" : "", "graceful", keepOpen ? "skip_exit" : ""];
      await ask(`/drain_listeners?${options.filter((each) => each !== "").join("&")}`, "POST");
    },
    clientConnections: () => total("/stats?usedonly&filter=downstream_cx_active$", clientConnections(ownPorts)),
    forwardedRequests: () => total("/clusters", forwardedRequests()),
  };
}

const decoder = new TextDecoder();

/** `/ready` answers 200, or 503 while Envoy is not live. */
async function isReady(world: World, url: string): Promise<boolean> {
  return (await request(world, `${url}/ready`, [200, 503])).status === 200;
}

/** Uses a new connection: a kept one would reach the previous epoch. */
async function request(world: World, url: string, good: readonly number[], method: "GET" | "POST" = "GET") {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const common = { headers: new Headers(), protocol: "http/1.1", maxBodyBytes: MAX_ANSWER } as const;
  try {
    const { status, body } = await world.network.exchange({ method, url, signal, ...common });
    if (!good.includes(status)) throw new Error(`status ${status}`);
    if (signal.aborted) throw new Error(`it took more than ${TIMEOUT_MILLISECONDS} ms`);
    if (body.length >= MAX_ANSWER) throw new Error(`the answer is larger than ${MAX_ANSWER} bytes`);
    return { status, text: decoder.decode(body) };
  } catch (error) {
    throw new MeshError(`Cannot reach Envoy's admin interface at "${url}": ${messageOf(error)}`, { cause: error });
  }
}

/** In: `{"state": "LIVE", "command_line_options": {"restart_epoch": 0}}` and more. */
function isLive(text: string, epoch: number): boolean {
  const state = /^ ?"state": ?"(\w+)"/m.exec(text)?.[1];
  const of = /^ +"restart_epoch": ?(\d+)/m.exec(text)?.[1];
  return state === "LIVE" && Number(of ?? 0) === epoch;
}
