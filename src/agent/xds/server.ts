/** The xDS proxy, which serves a Unix socket for Envoy and connects to istiod. */
import { type ByteConnection, splice, type World } from "../../platform/mod.ts";
import { logText } from "../../platform/log.ts";
import { EXTENSION_TYPE } from "../wasm/extension_type.ts";
import { lazyModules } from "./extensions.ts";
import { connectionStatus } from "./connection_status.ts";
import type { XdsOptions } from "./options.ts";
import { ConnectionCounter, observed, PREFACE_LENGTH, textFinder } from "./message_counter.ts";
import { relay } from "./relay.ts";
import { connectUpstream, problemOf, type UpstreamContext } from "./upstream.ts";

/**
 * Mode of the socket. Envoy may run as another user, and applications with gRPC xDS connect too; the folder restricts
 * access.
 */
const SOCKET_MODE = 0o666;

/**
 * Maximum number of connections. Envoy has one connection, or briefly two. Each connection of an application with gRPC
 * xDS opens a connection to istiod.
 */
const MAX_CONNECTIONS = 100;

/**
 * Serves the socket. Each connection from Envoy gets a separate connection to istiod, with the current certificate and
 * roots. Bytes are spliced without parsing, and both connections close together; Envoy reconnects after its own delay.
 * Extra headers (`XDS_HEADER_*`), a token or health reports need a relay. Rejects with a MeshError if the socket cannot
 * be bound.
 */
export async function startXds(world: World, options: XdsOptions) {
  const connection = connectionStatus(options.address, options.log);
  const end = new AbortController();
  const modules = options.wasm === undefined ? undefined : lazyModules(world, options.wasm);
  const upstream: UpstreamContext = { world, options, connection, modules, signal: end.signal };
  const socket = { path: options.path, mode: SOCKET_MODE };
  const passing = new Set<Promise<void>>();
  const calls = new Set<Request>();
  const serveRelay = () =>
    world.network.serveUnix(socket, (request) => relay(upstream, request, { calls, max: MAX_CONNECTIONS }));
  const spliced = new Set<ByteConnection>();
  let server = needsRelay(options) ? await serveRelay() : await world.network.listenUnix(socket, (envoy) => {
    if (passing.size >= MAX_CONNECTIONS) return envoy.close();
    spliced.add(envoy);
    const passed: Promise<void> = spliceUpstream(upstream, watched(envoy)).finally(() => {
      passing.delete(passed);
      spliced.delete(envoy);
    });
    passing.add(passed);
  });
  let turning: Promise<void> | undefined;
  /** Switches to relaying calls after Envoy has requested extensions. Closes Envoy's connections; Envoy reconnects. */
  async function turnToRelay(): Promise<void> {
    for (const envoy of spliced) envoy.close();
    await server.close();
    if (!end.signal.aborted) server = await serveRelay();
  }
  function watched(envoy: ByteConnection): ByteConnection {
    if (options.wasm === undefined) return envoy;
    const isFound = textFinder(EXTENSION_TYPE);
    const read = (bytes: Uint8Array) => {
      if (!isFound(bytes)) return;
      turning ??= turnToRelay().catch((error) => options.log.error(logText(problemOf(error))));
    };
    return observed(envoy, { read, written: () => {} });
  }
  return {
    problem: connection.problem,
    async close(): Promise<void> {
      end.abort();
      await turning;
      await server.close();
      await Promise.all(passing);
      await modules?.close();
    },
  };
}

/** Whether calls must be relayed. Without a certificate, a token authenticates the workload. */
function needsRelay({ headers, identity, tls, tokenFile = "", reports }: XdsOptions): boolean {
  return reports !== undefined || Object.keys(headers).length > 0 ||
    (identity === undefined && tls !== undefined && tokenFile !== "");
}

/** Splices a connection to istiod. Never rejects. */
async function spliceUpstream(upstream: UpstreamContext, envoy: ByteConnection): Promise<void> {
  try {
    const istiod = await connectUpstream(upstream);
    const { side, error } = await splice(counted(upstream, envoy), istiod);
    if (!upstream.signal.aborted) {
      upstream.options.metrics?.connectionEnded(side === "other" ? "istiod" : "envoy", error !== undefined);
      upstream.connection.ended(side === "other" && error !== undefined ? problemOf(error) : undefined);
    }
  } catch {
    // The failure was already reported, and Envoy reconnects.
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
