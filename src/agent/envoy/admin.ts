import { MeshError, messageOf } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { clientConnections, type Count, forwardedRequests } from "./active_counts.ts";

const TIMEOUT_MILLISECONDS = 2000;
/** Maximum size of a response, in bytes. In a large mesh, `/clusters` returns several megabytes. */
const MAX_ANSWER = 64 << 20;

export type EnvoyAdmin = ReturnType<typeof envoyAdmin>;

/**
 * Returns a client for the admin interface at `url`. Every call rejects with `MeshError` on failure. `ownPorts` are the
 * ports for health and metrics.
 */
export function envoyAdmin(world: World, url: string, ownPorts: readonly number[]) {
  const ask = async (path: string, method: "GET" | "POST" = "GET") =>
    (await request(world, url + path, [200], method)).text;
  const total = async (path: string, count: Count) => {
    for (const line of (await ask(path)).split("\n")) count.add(line);
    return count.total();
  };
  return {
    /**
     * Whether this epoch is live: listeners are open and configured. Asks `/ready` first, because `/server_info` is
     * long.
     */
    isLive: async (epoch: number) => await isReady(world, url) && isLive(await ask("/server_info"), epoch),
    /**
     * Makes Envoy close connections gracefully. Unless `keepOpen` is set, listeners close after Envoy's drain time
     * (Envoy's docs: `drain_listeners`).
     */
    async drainListeners({ inboundOnly, keepOpen }: { readonly inboundOnly: boolean; readonly keepOpen: boolean }) {
      const options = [inboundOnly ? "inboundonly" : "", "graceful", keepOpen ? "skip_exit" : ""];
      await ask(`/drain_listeners?${options.filter((each) => each !== "").join("&")}`, "POST");
    },
    /** Returns the number of client connections; -1 if Envoy has no statistics for them. */
    clientConnections: () => total("/stats?usedonly&filter=downstream_cx_active$", clientConnections(ownPorts)),
    /** Returns the number of forwarded requests, including connections in flight; -1 if Envoy has no clusters. */
    forwardedRequests: () => total("/clusters", forwardedRequests()),
  };
}

const decoder = new TextDecoder();

/** Whether Envoy is ready. `/ready` returns 200, or 503 while Envoy is not live. */
async function isReady(world: World, url: string): Promise<boolean> {
  return (await request(world, `${url}/ready`, [200, 503])).status === 200;
}

/** Sends a request over a new connection, because a connection that was kept alive would reach the previous epoch. */
async function request(world: World, url: string, good: readonly number[], method: "GET" | "POST" = "GET") {
  const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
  const common = { headers: new Headers(), protocol: "http/1.1", maxBodyBytes: MAX_ANSWER } as const;
  try {
    const { status, body } = await world.network.exchange({ method, url, signal, ...common });
    if (!good.includes(status)) throw new Error(`status ${status}`);
    if (signal.aborted) throw new Error(`the request took more than ${TIMEOUT_MILLISECONDS} ms`);
    if (body.length >= MAX_ANSWER) throw new Error(`the response is larger than ${MAX_ANSWER} bytes`);
    return { status, text: decoder.decode(body) };
  } catch (error) {
    throw new MeshError(`Cannot reach Envoy's admin interface at "${url}": ${messageOf(error)}`, { cause: error });
  }
}

/**
 * Whether `/server_info` reports this epoch as live. Example: `{"state": "LIVE", "command_line_options":
 * {"restart_epoch": 0}}`.
 */
function isLive(text: string, epoch: number): boolean {
  const state = /^ ?"state": ?"(\w+)"/m.exec(text)?.[1];
  const of = /^ +"restart_epoch": ?(\d+)/m.exec(text)?.[1];
  return state === "LIVE" && Number(of ?? 0) === epoch;
}
