/**
 * HTTPS whose certificate can be replaced. Deno's server has one certificate for its life, and connections that wait to be
 * accepted are lost when a listener is closed. So one listener stays and takes all connections; behind it, on a port of
 * the loopback interface, is a server for each certificate, and a new connection is passed to the newest, byte by byte:
 * 50 us for a request. That also lets slow and silent clients be shown out, for which Deno's server has no limits.
 */
import { MeshError, messageOf } from "../../../errors.ts";
import { acceptAll } from "../network/connections.ts";
import { type ConnectionTable, connectionTable, type HeldConnection } from "./connection_table.ts";
import { sendAtOnce } from "../../linux/socket_options.ts";
import { closeBoth, splice } from "./splice.ts";
import type { KeyPair, TlsServeOptions, TlsServer } from "../../http.ts";
import type { HttpHandler } from "../../world.ts";

const LOOPBACK = "127.0.0.1";
const SWEEP_EVERY = 1000;
/** How long connections that were just made have for their request: told to end, a server closes those without. */
const FIRST_REQUESTS = 500;
/** How long no request may have come or been answered for a moment to be calm, and what part of the patience is for that. */
const CALM = 100;
const CALM_SHARE = 0.5;
/** How long the last answers may be on their way to slow clients. */
const LAST_BYTES = 2000;
/** How long no request is under way until those that still come count as lost. */
const QUIET = 300;
const LOOK_EVERY = 20;

/** A server behind the listener. */
interface Backend {
  readonly port: number;
  connections: number;
  /** Another has taken its place. */
  isReplaced: boolean;
  /** Resolves when its requests are answered. */
  end(): Promise<void>;
}

/** What all parts of a server share. */
interface Shared {
  readonly handler: HttpHandler;
  readonly table: ConnectionTable;
  /** Connections by the port that a backend sees of them. */
  readonly byPort: Map<number, HeldConnection>;
  readonly backends: Set<Backend>;
  /** Connections that are passed on. */
  readonly passing: Set<Promise<void>>;
  /** Requests that are not answered. */
  underWay: number;
  /** When a request came or was answered last. */
  lastStir: number;
  /** Answers end their connection (HTTP/1.1). */
  isDiscouraged: boolean;
}

/** Serves HTTPS. Rejects with a `MeshError` for an address that cannot be had, and for a certificate or key. */
export async function serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer> {
  const table = connectionTable(options.limits, () => performance.now());
  const shared = sharedOf(handler, table);
  let newest = await startBackend(options.keyPair, shared);
  const listener = await listen(options, newest);
  const front = acceptAll(listener, (outer) => {
    const passed: Promise<void> = pass(outer, newest, shared).finally(() => shared.passing.delete(passed));
    shared.passing.add(passed);
  });
  const sweeping = setInterval(() => table.sweep(), SWEEP_EVERY);
  return {
    port: listener.addr.port,
    async replaceCertificate(keyPair) {
      const next = await startBackend(keyPair, shared);
      newest.isReplaced = true;
      endIfUseless(newest, shared);
      newest = next;
    },
    discourage: () => void (shared.isDiscouraged = true),
    async close(patience) {
      const end = performance.now() + patience;
      listener.close();
      await front;
      shared.isDiscouraged = true;
      await within(Math.min(patience, FIRST_REQUESTS), Promise.all(shared.passing));
      await calm(shared, patience * CALM_SHARE);
      await within(Math.max(0, end - performance.now()), ended(shared));
      const isAnswered = shared.underWay === 0;
      if (isAnswered) await within(LAST_BYTES, Promise.all(shared.passing));
      clearInterval(sweeping);
      table.closeAll();
      return isAnswered;
    },
  };
}

function sharedOf(handler: HttpHandler, table: ConnectionTable): Shared {
  const sets = { byPort: new Map(), backends: new Set<Backend>(), passing: new Set<Promise<void>>() };
  return { handler, table, ...sets, underWay: 0, lastStir: -Infinity, isDiscouraged: false };
}

/**
 * Of the requests over HTTP/2 that come when a backend is told to end Deno answers none, and clients go on to ask on the
 * connections that they have until they are told: the end of a burst is waited for.
 */
async function calm(shared: Shared, milliseconds: number): Promise<void> {
  const end = performance.now() + milliseconds;
  const isStirred = (now: number) => shared.underWay > 0 || now - shared.lastStir < CALM;
  for (let now = performance.now(); isStirred(now) && now < end; now = performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/**
 * Tells the backends to end and waits for them. A request over HTTP/2 that comes at that moment is never answered by Deno,
 * and its backend does not end: it is not waited for when nothing else is under way.
 */
async function ended(shared: Shared): Promise<void> {
  let quiet = 0;
  const { promise: calm, resolve } = Promise.withResolvers<void>();
  const look = setInterval(() => {
    quiet = shared.underWay === 0 ? quiet + 1 : 0;
    if (quiet > QUIET / LOOK_EVERY) resolve();
  }, LOOK_EVERY);
  await Promise.race([calm, Promise.all([...shared.backends].map((backend) => backend.end()))]);
  clearInterval(look);
}

/**
 * A server whose certificate was replaced lives for as long as its last connection: to end it before would lose requests,
 * as Deno answers none that come over HTTP/2 after it was told to end.
 */
function endIfUseless(backend: Backend, { backends }: Shared): void {
  if (!backend.isReplaced || backend.connections > 0) return;
  backends.delete(backend);
  backend.end();
}

async function startBackend({ certificate: cert, key }: KeyPair, shared: Shared): Promise<Backend> {
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const onListen = ({ port }: Deno.NetAddr) => resolve(port);
  const server = serveOn({ hostname: LOOPBACK, port: 0, cert, key, onListen }, async (request, { remoteAddr }) => {
    const connection = shared.byPort.get("port" in remoteAddr ? remoteAddr.port : 0);
    connection?.asked();
    shared.underWay++;
    shared.lastStir = performance.now();
    try {
      const response = await shared.handler(request, connection?.remote ?? "");
      if (shared.isDiscouraged) response.headers.set("connection", "close");
      return response;
    } finally {
      shared.underWay--;
      shared.lastStir = performance.now();
    }
  });
  const port = await listening;
  sendAtOnce(port);
  const backend: Backend = { port, connections: 0, isReplaced: false, end: () => server.shutdown() };
  shared.backends.add(backend);
  return backend;
}

type Options = Deno.ServeTcpOptions & Deno.TlsCertifiedKeyPem;

function serveOn(options: Options, handler: Deno.ServeHandler<Deno.Addr>): Deno.HttpServer {
  try {
    return Deno.serve(options, handler);
  } catch (error) {
    throw new MeshError(`The certificate and its key cannot be used: ${messageOf(error)}`, {
      cause: error,
      hint: "both are PEM, and the key is that of the first certificate",
    });
  }
}

async function listen({ hostname, port }: TlsServeOptions, backend: Backend): Promise<Deno.TcpListener> {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    await backend.end();
    throw new MeshError(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

/** One connection, to its end. */
async function pass(outer: Deno.TcpConn, backend: Backend, shared: Shared): Promise<void> {
  const ends = [outer];
  const held = shared.table.hold(outer.remoteAddr.hostname, () => closeBoth(...ends));
  let key = 0;
  backend.connections++;
  try {
    outer.setNoDelay();
    const inner = await Deno.connect({ hostname: LOOPBACK, port: backend.port });
    inner.setNoDelay();
    ends.push(inner);
    key = inner.localAddr.port;
    shared.byPort.set(key, held);
    await splice(outer, inner, held.moved);
  } catch {
    // The client went away before anything was passed, or this process has no files left.
  }
  closeBoth(...ends);
  held.ended();
  shared.byPort.delete(key);
  backend.connections--;
  endIfUseless(backend, shared);
}

/** Whether it has come to its end in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
