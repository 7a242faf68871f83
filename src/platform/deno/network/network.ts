import { realFetch } from "./fetch.ts";
import { MeshError, messageOf } from "../../../base/errors.ts";
import { isProxied, proxiedClient } from "./proxies.ts";
import { systemRoots } from "./trust.ts";
import type { IdleConnections } from "../../linux/idle_connections.ts";
import type { HttpHandler, HttpServer, Network, ServeOptions, SilenceLimits } from "../../world.ts";

/** The network, through Deno. */
export const realNetwork: Network = {
  interfaces: () => Deno.networkInterfaces().map(({ name, family, address }) => ({ name, family, address })),
  lookup: (host) => lookup(host),
  isServed: async (path) => (await import("./unix_socket.ts")).isServed(path),
  fetch: async (url, options) => (await import("./download.ts")).download(url, options),
  request: (url, init) => realFetch(url, { ...init, ...clientFor(url) }),
  exchange: async (request) => (await import("./exchange.ts")).exchange(request),
  client: async (options) => (await import("./client.ts")).openClient(options),
  serve,
  serveTls: async (options, handler) => (await import("./https/server.ts")).serveLimited(options, handler),
  dial: async (options) => (await import("./dial.ts")).dial(options),
  http: async (connection, version) => (await import("./http.ts")).httpOver(connection, version),
  serveUnix: async (options, handler) => (await import("./unix_socket.ts")).serveUnix(options, handler),
  listenUnix: async (options, accepted) => (await import("./unix_socket.ts")).listenUnix(options, accepted),
  listenTcp: async (options, accepted) => (await import("./tcp_listener.ts")).listenTcp(options, accepted),
  bindDatagram: async (options) => (await import("./datagram.ts")).bindDatagram(options),
};

/** Matches URLs of the same pod (proxy or application), which do not need trusted roots. */
const IS_NEAR = /^http:\/\/(?:localhost|127\.[0-9.]+|\[::1\])(?:[:/?]|$)/i;
let near: Deno.HttpClient | undefined;
let far: Deno.HttpClient | undefined;

/** Returns a client that trusts the system's roots, or an empty object for URLs of the same pod. */
function clientFor(url: string): { readonly client?: Deno.HttpClient } {
  if (!IS_NEAR.test(url)) return { client: far ??= proxiedClient({ caCerts: [systemRoots()] }) };
  return isProxied() ? { client: near ??= proxiedClient({}) } : {};
}

/** Resolves a host name with /etc/hosts and the name servers in /etc/resolv.conf. Returns IPv4 addresses first. */
async function lookup(host: string): Promise<string[]> {
  const signal = AbortSignal.timeout(15_000);
  const answers = (["A", "AAAA"] as const).map((kind) => Deno.resolveDns(host, kind, { signal }).catch(() => []));
  return (await Promise.all(answers)).flat();
}

const SWEEP_EVERY = 5000;
/** Milliseconds that a server with connection limits waits for the last probes when it closes. */
const LAST_PROBES = 1000;

/** Closes silent connections periodically until the returned function is called. */
function sweepEvery(milliseconds: number, port: number, limits: SilenceLimits): () => void {
  let idle: IdleConnections | undefined;
  async function sweep() {
    try {
      idle ??= (await import("../../linux/idle_connections.ts")).idleConnections(port, limits);
      idle.sweep();
    } catch {
      // Sweeping is impossible: not Linux, or the process has given up permissions.
      clearInterval(timer);
    }
  }
  const timer = setInterval(sweep, milliseconds);
  return () => {
    clearInterval(timer);
    idle?.close();
  };
}

async function serve(options: ServeOptions, handler: HttpHandler): Promise<HttpServer> {
  const { hostname, port, failed, limits, connections } = options;
  if (connections !== undefined) {
    const { serveLimited } = await import("./https/server.ts");
    const server = await serveLimited({ hostname, port, limits: connections }, handler);
    return { port: server.port, close: async () => void await server.close(LAST_PROBES) };
  }
  const { serveLasting } = await import("./lasting_server.ts");
  const start = (signal: AbortSignal, before: Deno.NetAddr | undefined) =>
    Deno.serve(
      { hostname, port: before?.port ?? port, signal, onListen() {} },
      (request, { remoteAddr }) => handler(request, "hostname" in remoteAddr ? remoteAddr.hostname : ""),
    );
  try {
    const server = serveLasting(start, failed);
    const bound = server.address.port;
    const stop = limits === undefined ? () => {} : sweepEvery(SWEEP_EVERY, bound, limits);
    return { port: bound, close: () => server.shutdown().finally(stop) };
  } catch (error) {
    throw new MeshError(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, { cause: error });
  }
}
