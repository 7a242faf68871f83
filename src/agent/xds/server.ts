/** The xDS proxy: a Unix socket for Envoy, connected to istiod. */
import { type ByteConnection, type HttpConnection, splice, type World } from "../../platform/mod.ts";
import { connectionStatus } from "./connection_status.ts";
import type { XdsOptions } from "./options.ts";
import { ConnectionCounter, observed, PREFACE_LENGTH } from "./message_counter.ts";
import { relay } from "./relay.ts";
import { connectUpstream, problemOf, type UpstreamContext } from "./upstream.ts";

/** Envoy may run as another user, and applications with gRPC xDS connect too; the folder restricts access. */
const SOCKET_MODE = 0o666;

/** Envoy has one connection, for a moment two. Each of an application with gRPC xDS is one to istiod too. */
const MAX_CONNECTIONS = 100;

/**
 * Serves the socket. Each of Envoy's connections gets its own to istiod, with the current certificate and roots. Bytes
 * are spliced unread, and both ends close together; Envoy reconnects after its own delay. Extra headers
 * (`XDS_HEADER_*`), a token or health reports need a relay. Rejects with a MeshError if the socket cannot be bound.
 */
export async function startXds(world: World, options: XdsOptions) {
  const connection = connectionStatus(options.address, options.log);
  const end = new AbortController();
  const upstream: UpstreamContext = { world, options, connection, signal: end.signal };
  const socket = { path: options.path, mode: SOCKET_MODE };
  const passing = new Set<Promise<void>>();
  const relayed = new Set<HttpConnection>();
  const server = needsRelay(options)
    ? await world.network.serveUnix(socket, (request) => relay(upstream, request, { relayed, max: MAX_CONNECTIONS }))
    : await world.network.listenUnix(socket, (envoy) => {
      if (passing.size >= MAX_CONNECTIONS) return envoy.close();
      const passed: Promise<void> = spliceUpstream(upstream, envoy).finally(() => passing.delete(passed));
      passing.add(passed);
    });
  return {
    problem: connection.problem,
    async close(): Promise<void> {
      end.abort();
      await server.close();
      await Promise.all(passing);
    },
  };
}

/** Without a certificate a token authenticates the workload. */
function needsRelay({ headers, identity, tls, tokenFile = "", reports }: XdsOptions): boolean {
  return reports !== undefined || Object.keys(headers).length > 0 ||
    (identity === undefined && tls !== undefined && tokenFile !== "");
}

/** Never rejects. */
async function spliceUpstream(upstream: UpstreamContext, envoy: ByteConnection): Promise<void> {
  try {
    const istiod = await connectUpstream(upstream);
    const { side, error } = await splice(counted(upstream, envoy), istiod);
    if (!upstream.signal.aborted) {
      upstream.options.metrics?.connectionEnded(side === "other" ? "istiod" : "envoy", error !== undefined);
      upstream.connection.ended(side === "other" && error !== undefined ? problemOf(error) : undefined);
    }
  } catch {
    // Already reported; Envoy reconnects.
  }
  envoy.close();
}

function counted({ options: { metrics } }: UpstreamContext, envoy: ByteConnection): ByteConnection {
  if (metrics === undefined) return envoy;
  const requests = new ConnectionCounter(PREFACE_LENGTH);
  const responses = new ConnectionCounter(0);
  return observed(envoy, {
    read: (bytes) => metrics.requested(requests.count(bytes)),
    written: (bytes) => metrics.responded(responses.count(bytes)),
  });
}
