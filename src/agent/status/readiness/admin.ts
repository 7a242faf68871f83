import { MeshError } from "../../../core/errors.ts";
import { requestFailure } from "../../../core/request_failure.ts";
import { joinBytes } from "../../../core/bytes.ts";
import type { Network } from "../../../core/world/world.ts";
import { readBounded } from "../../metrics/bounded_body.ts";
import { parseStats, QUERIES, type Stats } from "./envoy_stats.ts";
import { REFUSALS, refusalsIn } from "./refusals.ts";

/** Envoy's admin interface, as far as readiness needs it. */
export interface Admin {
  /** Throws a `MeshError` if the interface does not answer in time. */
  stats(query: keyof typeof QUERIES): Promise<Stats>;
  /** Why listeners were refused; nothing if that cannot be had. */
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
    refusals: () => read(network, `${origin}${REFUSALS}`, 1000).then(refusalsIn, () => []),
  };
}

async function read(network: Network, url: string, milliseconds: number): Promise<string> {
  const { status, body } = await ask(network, url, milliseconds);
  const pieces = body === null ? [] : await readBounded(body.getReader(), MAX_BYTES);
  if (status !== 200) throw new MeshError(`${COMPLAINT}: it answered ${status}`);
  if (pieces === undefined) throw new MeshError(`${COMPLAINT}: its answer is larger than ${MAX_BYTES} bytes`);
  return new TextDecoder().decode(joinBytes(pieces));
}

async function ask(network: Network, url: string, milliseconds: number): Promise<Response> {
  try {
    return await network.request(url, { signal: AbortSignal.timeout(milliseconds) });
  } catch (error) {
    throw new MeshError(`${COMPLAINT}: ${requestFailure(error, milliseconds).text}`, { cause: error });
  }
}

const COMPLAINT = "The admin interface of Envoy does not answer as it should";
