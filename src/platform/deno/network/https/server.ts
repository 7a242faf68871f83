/**
 * HTTPS with a replaceable certificate, and both kinds of HTTP within limits of connections. Deno's server keeps one certificate for its life, and a listener that is closed loses the
 * connections in its queue. So one listener accepts all connections, and a server on loopback (backend) exists for each
 * certificate. A new connection is spliced to the newest backend, which costs 50 us a request. Slow and idle clients can be
 * rejected, for which Deno's server has no limits.
 */
import { MeshError, messageOf } from "../../../../base/errors.ts";
import { acceptAll } from "../connections.ts";
import { type LastingServer, serveLasting } from "../lasting_server.ts";
import { type ConnectionTable, connectionTable, type HeldConnection } from "./connection_table.ts";
import { sendAtOnce } from "../../../linux/socket_options.ts";
import { closeBoth, splice } from "./splice.ts";
import type { HttpServer, KeyPair, ServedExchange, TlsServeOptions, TlsServer } from "../../../http.ts";
import type { HttpHandler } from "../../../world.ts";

const LOOPBACK = "127.0.0.1";
const SWEEP_EVERY = 1000;
/** Milliseconds that new connections have for their first request: a server that shuts down closes connections without. */
const FIRST_REQUESTS = 500;
/** Milliseconds without a request or response that count as idle, and the share of the drain time that is spent on it. */
const IDLE = 100;
/** The same while clients are asked to pause: less than their pause, and more than a busy machine delays a request. */
const PAUSED = 500;
const IDLE_SHARE = 0.5;
/** The share that is spent on another one, in which clients are asked to pause. */
const PAUSED_SHARE = 0.25;
/**
 * The answer to clients that never pause. client-go, and so an API server, asks again after that second
 * (k8s.io/client-go/rest/with_retry.go), by then over another connection.
 */
const ASK_LATER = { status: 429, headers: { "retry-after": "1" } } as const;
/** Milliseconds that slow clients have to read the last responses. */
const LAST_BYTES = 2000;
/** Milliseconds without a request in flight after which the shutdown of backends is not waited for. */
const QUIET = 300;
const CHECK_EVERY = 20;

/** A server behind the listener. */
interface Backend {
  readonly port: number;
  connections: number;
  /** A newer certificate is in use. */
  isReplaced: boolean;
  /** Shuts down; resolves when its requests are answered. */
  end(): Promise<void>;
}

/** A client's connection. */
interface Spliced {
  readonly held: HeldConnection;
  close(): void;
}

/** The state of a server. */
interface Shared {
  readonly handler: HttpHandler;
  readonly table: ConnectionTable;
  /** Connections by the port from which the backend sees them. */
  readonly byPort: Map<number, Spliced>;
  readonly backends: Set<Backend>;
  /** Connections that are being spliced. */
  readonly passing: Set<Promise<void>>;
  /** Requests without a response. */
  inFlight: number;
  /** When the last request or response was. */
  lastActivity: number;
  /** Responses ask the client to close the connection (HTTP/1.1). */
  isDraining: boolean;
  /** Requests are answered with {@link ASK_LATER}. */
  asksForPause: boolean;
}

/** Serves plain HTTP within limits of connections; see `Network.serve`. */
export async function servePlain(options: PlainOptions, handler: HttpHandler): Promise<HttpServer> {
  const { port, close } = await serveLimited({ ...options, keyPair: undefined }, handler);
  return { port, close: async () => void await close(PLAIN_CLOSE) };
}

/** Milliseconds for the last probes. */
const PLAIN_CLOSE = 1000;

type PlainOptions = Omit<TlsServeOptions, "keyPair">;

/** Serves HTTPS; see `Network.serveTls`. */
export function serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer> {
  return serveLimited(options, handler);
}

type Options = PlainOptions & { readonly keyPair: KeyPair | undefined };

async function serveLimited(options: Options, handler: HttpHandler): Promise<TlsServer> {
  const table = connectionTable(options.limits, () => performance.now());
  const shared = sharedOf(handler, table);
  let newest = startBackend(options.keyPair, shared);
  const listener = await listen(options, newest);
  const front = acceptAll(listener, (outer) => {
    const passed: Promise<void> = pass(outer, newest, shared).finally(() => shared.passing.delete(passed));
    shared.passing.add(passed);
  });
  const sweeping = setInterval(() => table.sweep(), SWEEP_EVERY);
  return {
    port: listener.addr.port,
    replaceCertificate: (keyPair) =>
      Promise.resolve().then(() => {
        const next = startBackend(keyPair, shared);
        newest.isReplaced = true;
        endIfUnused(newest, shared);
        newest = next;
      }),
    drain: () => void (shared.isDraining = true),
    async close(milliseconds) {
      const end = performance.now() + milliseconds;
      listener.close();
      await front;
      shared.isDraining = true;
      await within(Math.min(milliseconds, FIRST_REQUESTS), Promise.all(shared.passing));
      await idle(shared, IDLE, milliseconds * IDLE_SHARE);
      // Also after an idle moment: on a busy machine it may be that of a client that waits for a processor.
      shared.asksForPause = true;
      shared.lastActivity = performance.now();
      await idle(shared, PAUSED, milliseconds * PAUSED_SHARE);
      await within(Math.max(0, end - performance.now()), ended(shared));
      const isAnswered = shared.inFlight === 0;
      if (isAnswered) await within(LAST_BYTES, Promise.all(shared.passing));
      clearInterval(sweeping);
      table.closeAll();
      return isAnswered;
    },
  };
}

function sharedOf(handler: HttpHandler, table: ConnectionTable): Shared {
  const sets = { byPort: new Map(), backends: new Set<Backend>(), passing: new Set<Promise<void>>() };
  return { handler, table, ...sets, inFlight: 0, lastActivity: -Infinity, isDraining: false, asksForPause: false };
}

/**
 * Waits for an idle moment: Deno never answers requests over HTTP/2 that arrive when a backend shuts down, and clients go on to
 * use their connections until they are told.
 */
async function idle(shared: Shared, period: number, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  const isActive = (now: number) => shared.inFlight > 0 || now - shared.lastActivity < period;
  for (let now = performance.now(); isActive(now) && now < end; now = performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/**
 * Shuts the backends down. A backend that a request over HTTP/2 reaches at that moment neither answers nor ends: it is not waited
 * for after a quiet period.
 */
async function ended(shared: Shared): Promise<void> {
  let quiet = 0;
  const { promise: quietPeriod, resolve } = Promise.withResolvers<void>();
  const timer = setInterval(() => {
    quiet = shared.inFlight === 0 ? quiet + 1 : 0;
    if (quiet > QUIET / CHECK_EVERY) resolve();
  }, CHECK_EVERY);
  await Promise.race([quietPeriod, Promise.all([...shared.backends].map((backend) => backend.end()))]);
  clearInterval(timer);
}

/** A backend with an old certificate lives as long as its last connection: an earlier shutdown would lose requests over HTTP/2. */
function endIfUnused(backend: Backend, { backends }: Shared): void {
  if (!backend.isReplaced || backend.connections > 0) return;
  backends.delete(backend);
  backend.end();
}

function startBackend(keyPair: KeyPair | undefined, shared: Shared): Backend {
  const secured = keyPair === undefined ? {} : { cert: keyPair.certificate, key: keyPair.key };
  const server = serveOn({ hostname: LOOPBACK, port: 0, ...secured }, async (request, { remoteAddr, completed }) => {
    const connection = shared.byPort.get("port" in remoteAddr ? remoteAddr.port : 0);
    // Another process of this network namespace, past the limits.
    if (connection === undefined) return new Response(null, { status: 403, headers: { connection: "close" } });
    shared.inFlight++;
    shared.lastActivity = performance.now();
    try {
      const response = shared.asksForPause
        ? new Response(null, ASK_LATER)
        : await shared.handler(request, connection.held.remote, exchangeOf(connection, completed));
      if (shared.isDraining) response.headers.set("connection", "close");
      return response;
    } finally {
      shared.inFlight--;
      shared.lastActivity = performance.now();
    }
  });
  const { port } = server.address;
  const backend: Backend = { port, connections: 0, isReplaced: false, end: () => server.shutdown() };
  shared.backends.add(backend);
  return backend;
}

/** Counts a request for its connection until its answer is sent. */
function exchangeOf({ held, close }: Spliced, completed: Promise<void>): ServedExchange {
  let stop = () => {};
  held.asked();
  const sent = completed.catch(() => {
    // The client has gone.
  }).then(() => {
    stop();
    held.answered();
  });
  return { arrived: () => void (stop = held.waits()), sent, close };
}

type BackendOptions = Deno.ServeTcpOptions & Partial<Deno.TlsCertifiedKeyPem>;

function serveOn(options: BackendOptions, handler: Deno.ServeHandler<Deno.Addr>): LastingServer<Deno.NetAddr> {
  const start = (signal: AbortSignal, before: Deno.NetAddr | undefined) => {
    const server = Deno.serve({ ...options, port: before?.port ?? 0, signal, onListen() {} }, handler);
    sendAtOnce(server.addr.port);
    return server;
  };
  try {
    return serveLasting(start);
  } catch (error) {
    throw new MeshError(`The certificate and its key cannot be used: ${messageOf(error)}`, {
      cause: error,
      hint: "both are PEM, and the key is that of the first certificate",
    });
  }
}

async function listen({ hostname, port }: PlainOptions, backend: Backend): Promise<Deno.TcpListener> {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    await backend.end();
    throw new MeshError(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

/** Splices a connection to the backend, until it ends. */
async function pass(outer: Deno.TcpConn, backend: Backend, shared: Shared): Promise<void> {
  const ends = [outer];
  let isClosed = false;
  const close = () => {
    isClosed = true;
    closeBoth(...ends);
  };
  const held = shared.table.hold(outer.remoteAddr.hostname, close);
  if (isClosed) return;
  let key = 0;
  backend.connections++;
  try {
    outer.setNoDelay();
    const inner = await Deno.connect({ hostname: LOOPBACK, port: backend.port });
    inner.setNoDelay();
    ends.push(inner);
    key = inner.localAddr.port;
    shared.byPort.set(key, { held, close });
    if (!isClosed) await splice(outer, inner, held);
  } catch {
    // The client closed the connection, or this process has too many open files.
  }
  closeBoth(...ends);
  held.ended();
  shared.byPort.delete(key);
  backend.connections--;
  endIfUnused(backend, shared);
}

/** Whether the work finished in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
