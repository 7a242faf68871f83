import { MeshError, messageOf } from "../../../core/errors.ts";
import { joinBytes } from "../../../core/bytes.ts";
import type { Network } from "../../../core/world/world.ts";
import { readBounded } from "../../metrics/bounded_body.ts";
import { parseStats, QUERIES, type Stats } from "./envoy_stats.ts";
import { REFUSALS, refusalsIn } from "./refusals.ts";

/** Envoy's admin interface, as far as readiness needs it. */
export interface Admin {
  /** Throws a `MeshError` if the interface does not answer in time. */
  stats(query: keyof typeof QUERIES): Promise<Stats>;
  /** Why listeners and clusters were refused; nothing if that cannot be had. */
  refusals(): Promise<readonly string[]>;
}

const MAX_BYTES = 1 << 20;

/** The admin interface at an address of this machine. */
export function adminAt(network: Network, host: string, port: number): Admin {
  const origin = `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  return {
    async stats(name) {
      const { filter, milliseconds } = QUERIES[name];
      return parseStats(await read(network, `${origin}/stats?usedonly&filter=${filter}`, milliseconds));
    },
    async refusals() {
      const texts = REFUSALS.map(({ path }) => read(network, `${origin}${path}`, 1000).catch(() => ""));
      return (await Promise.all(texts)).flatMap(refusalsIn);
    },
  };
}

async function read(network: Network, url: string, milliseconds: number): Promise<string> {
  try {
    const { status, body } = await network.request(url, { signal: AbortSignal.timeout(milliseconds) });
    const pieces = body === null ? [] : await readBounded(body.getReader(), MAX_BYTES);
    if (status !== 200) throw new Error(`the answer was ${status}`);
    if (pieces === undefined) throw new Error(`the answer is larger than ${MAX_BYTES} bytes`);
    return new TextDecoder().decode(joinBytes(pieces));
  } catch (error) {
    throw new MeshError(`The admin interface of Envoy does not answer: ${messageOf(error)}`, { cause: error });
  }
}
