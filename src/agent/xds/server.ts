/** Envoy's way to the control plane: a Unix socket, spliced to it. */
import { type ByteConnection, splice, type World } from "../../core/world/mod.ts";
import { healthOf } from "./connection_log.ts";
import type { XdsOptions, XdsProxy } from "./options.ts";
import { relay } from "./relay.ts";
import { problemOf, type Way, wayUp } from "./upstream.ts";

/** Envoy may run as another user, and applications that speak xDS themselves (gRPC without a proxy) do: the folder decides. */
const SOCKET_MODE = 0o666;

/**
 * Serves the socket. A connection of Envoy's gets one of its own to the control plane, with the certificate and the roots of
 * that moment, and both end together: Envoy makes a new one, after a pause of its own. Bytes are copied and not read: what
 * they say is between Envoy and the control plane. Only headers that the user wants added (`XDS_HEADER_*`), a token and health
 * reports need a relay, which knows calls. Rejects with a MeshError if the socket cannot be had.
 */
export async function startXds(world: World, options: XdsOptions): Promise<XdsProxy> {
  const health = healthOf(options.address, options.log);
  const end = new AbortController();
  const way: Way = { world, options, health, signal: end.signal };
  const socket = { path: options.path, mode: SOCKET_MODE };
  const passing = new Set<Promise<void>>();
  const server = needsRelay(options)
    ? await world.network.serveUnix(socket, (request) => relay(way, request))
    : await world.network.listenUnix(socket, (inner) => {
      const passed: Promise<void> = pass(way, inner).finally(() => passing.delete(passed));
      passing.add(passed);
    });
  return {
    problem: health.problem,
    async close() {
      end.abort();
      await server.close();
      await Promise.all(passing);
    },
  };
}

/** Without a certificate of its own the agent proves by a token who the workload is. */
function needsRelay({ headers, identity, tls, tokenFile = "", reports }: XdsOptions): boolean {
  return reports !== undefined || Object.keys(headers).length > 0 ||
    (identity === undefined && tls !== undefined && tokenFile !== "");
}

/** One connection of Envoy's, to its end. Never rejects. */
async function pass(way: Way, inner: ByteConnection): Promise<void> {
  try {
    const outer = await wayUp(way);
    const { side, error } = await splice(inner, outer);
    if (!way.signal.aborted) way.health.ended(side === "other" && error !== undefined ? problemOf(error) : undefined);
  } catch {
    // It was told; Envoy tries again when its connection ends.
  }
  inner.close();
}
