import { parseJson } from "../../../base/json.ts";
import { isMap, type ValueMap } from "../../../base/value.ts";
import { MeshError } from "../../../base/errors.ts";
import { requestFailure } from "../../../platform/request_failure.ts";
import { joinHostPort } from "../../../golang/net/mod.ts";
import { joinBytes } from "../../../base/bytes.ts";
import type { Network } from "../../../platform/world.ts";
import { readBounded } from "../../metrics/bounded_body.ts";
import { parseStats, QUERIES, type Stats } from "../../../istio/envoy_stats.ts";
import { fieldOf } from "../../json_fields.ts";

export interface Admin {
  /** Returns statistics of the admin interface. Throws a `MeshError` on failure or timeout. */
  stats(query: keyof typeof QUERIES): Promise<Stats>;
  /** Returns why Envoy rejected listeners, if known. */
  refusals(): Promise<readonly string[]>;
}

const MAX_BYTES = 1 << 20;

export function adminAt(network: Network, host: string, port: number): Admin {
  const origin = `http://${joinHostPort(host, port)}`;
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
  if (status !== 200) throw new MeshError(`${FAILED}: the status was ${status}`);
  if (pieces === undefined) throw new MeshError(`${FAILED}: the response is larger than ${MAX_BYTES} bytes`);
  return new TextDecoder().decode(joinBytes(pieces));
}

async function ask(network: Network, url: string, milliseconds: number): Promise<Response> {
  try {
    return await network.request(url, { signal: AbortSignal.timeout(milliseconds) });
  } catch (error) {
    throw new MeshError(`${FAILED}: ${requestFailure(error, milliseconds).text}`, { cause: error });
  }
}

const FAILED = "Envoy's admin interface failed";

/**
 * Requests names and errors only, because a rejected configuration may be large. For rejected clusters, Envoy only logs
 * the reason.
 */
export const REFUSALS = "/config_dump?resource=dynamic_listeners&mask=name,error_state.details";

const MAX_REASONS = 5;
const MAX_LENGTH = 500;

/** Returns at most five distinct reasons such as `listener "web": ...`, each in one line. */
export function refusalsIn(text: string): string[] {
  const json = parseJson(text);
  const configs = isMap(json) ? fieldOf(json, "configs") : undefined;
  if (!Array.isArray(configs)) return [];
  const seen = new Set<string>();
  return configs.filter(isMap).flatMap((config) => {
    const reason = reasonIn(config);
    if (reason === "" || seen.has(reason) || seen.size === MAX_REASONS) return [];
    seen.add(reason);
    const name = fieldOf(config, "name");
    return [typeof name === "string" && name !== "" ? `listener "${name}": ${reason}` : reason];
  });
}

function reasonIn(config: ValueMap): string {
  const state = fieldOf(config, "error_state");
  const details = isMap(state) ? fieldOf(state, "details") : undefined;
  return typeof details === "string" ? details.replaceAll(/\s+/g, " ").slice(0, MAX_LENGTH) : "";
}
