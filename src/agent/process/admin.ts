import { MeshError, messageOf } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import { clientConnections, type Count, forwardedRequests } from "./connections.ts";
import { linesOf } from "./lines.ts";

const TIMEOUT_MILLISECONDS = 2000;
/** The answer about the server is some kilobytes. */
const LARGEST_INFO = 1 << 20;

/** What is asked of Envoy's admin interface. Every call rejects with `MeshError` if there is no good answer. */
export interface EnvoyAdmin {
  /** Whether this epoch serves: its listeners are open, and configuration has come. */
  isLive(epoch: number): Promise<boolean>;
  /**
   * Connections are told to close, and listeners closed after Envoy's drain time, or kept open. Source: Envoy's
   * operations, administration interface, `drain_listeners`.
   */
  drainListeners(options: { readonly inboundOnly: boolean; readonly keepOpen: boolean }): Promise<void>;
  /** Connections of clients; -1 if Envoy keeps no such statistics. */
  clientConnections(): Promise<number>;
  /** Requests and connections being forwarded; -1 if Envoy knows no cluster. */
  forwardedRequests(): Promise<number>;
}

/** The admin interface at a URL such as `http://127.0.0.1:15000`; `ownPorts` are those of health and metrics. */
export function envoyAdmin(world: World, url: string, ownPorts: readonly number[]): EnvoyAdmin {
  const ask = (path: string, method = "GET") => request(world, url + path, method);
  const total = async (path: string, count: Count) => {
    const { body } = await ask(path);
    for await (const line of linesOf(body)) count.add(line);
    return count.total();
  };
  return {
    isLive: async (epoch) => isLive(await textOf(await ask("/server_info")), epoch),
    async drainListeners({ inboundOnly, keepOpen }) {
      const options = [inboundOnly ? "inboundonly" : "", "graceful", keepOpen ? "skip_exit" : ""];
      const answer = await ask(`/drain_listeners?${options.filter((each) => each !== "").join("&")}`, "POST");
      await answer.body?.cancel();
    },
    clientConnections: () => total("/stats?usedonly&filter=downstream_cx_active$", clientConnections(ownPorts)),
    forwardedRequests: () => total("/clusters", forwardedRequests()),
  };
}

async function request(world: World, url: string, method: string): Promise<Response> {
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MILLISECONDS);
    const response = await world.network.request(url, { method, signal });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new Error(`status ${response.status}`);
  } catch (error) {
    throw new MeshError(`Cannot ask Envoy's admin interface at "${url}": ${messageOf(error)}`, { cause: error });
  }
}

async function textOf(response: Response): Promise<string> {
  let text = "";
  for await (const line of linesOf(response.body)) {
    text += `${line}\n`;
    if (text.length > LARGEST_INFO) throw new MeshError("The answer of Envoy's admin interface is too large");
  }
  return text;
}

/** The answer of `/server_info`: `{"state": "LIVE", "command_line_options": {"restart_epoch": 0}}` and more. */
function isLive(text: string, epoch: number): boolean {
  const state = /^ ?"state": ?"(\w+)"/m.exec(text)?.[1];
  const of = /^ +"restart_epoch": ?(\d+)/m.exec(text)?.[1];
  return state === "LIVE" && Number(of ?? 0) === epoch;
}
