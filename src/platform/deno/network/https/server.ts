/**
 * HTTP/1.1 with connection limits, plain or over TLS with a replaceable certificate. Deno's server supports neither.
 * One listener accepts all connections, and the table closes slow and idle connections. Each connection is spliced to
 * the HTTP server on loopback. With TLS, the connection first passes through the TLS listener of the newest
 * certificate, also on loopback.
 *
 * HTTP/2 is not served. Deno's server never answers requests that arrive around its GOAWAY, so a graceful shutdown would
 * lose some; with HTTP/1.1 a response closes its connection. controller-runtime's webhooks also serve HTTP/1.1 only,
 * because of the attacks on HTTP/2 (CVE-2023-39325, CVE-2023-44487).
 */
import { MeshError, messageOf } from "../../../../base/errors.ts";
import { acceptAll } from "../connections.ts";
import { type LastingServer, serveLasting } from "../lasting_server.ts";
import { type ConnectionTable, connectionTable, type HeldConnection } from "./connection_table.ts";
import { sendAtOnce } from "../../../linux/socket_options.ts";
import { closeBoth, splice, type Watch } from "./splice.ts";
import type { KeyPair, ServedExchange, TlsServeOptions, TlsServer } from "../../../http.ts";
import type { HttpHandler } from "../../../world.ts";

const LOOPBACK = "127.0.0.1";
const SWEEP_EVERY = 1000;
/** Milliseconds that a new connection has for its first request during a shutdown. */
const FIRST_REQUESTS = 500;
/** Milliseconds without a request or response that count as idle. */
const IDLE = 100;
/** Milliseconds that slow clients have to read the last responses of a shutdown. */
const LAST_BYTES = 2000;
/** The preface of HTTP/2 with prior knowledge (RFC 9113, section 3.4); no method of HTTP/1.1 starts like this. */
const HTTP2_PREFACE = new TextEncoder().encode("PRI ");

type LimitedOptions = Omit<TlsServeOptions, "keyPair"> & Partial<Pick<TlsServeOptions, "keyPair">>;

/** Ignores decrypted bytes, because the encrypted bytes are already counted. */
const UNCOUNTED: Received = { received: () => undefined, moved() {} };

/** The loopback listener that receives new connections: the HTTP server, or the TLS listener of a certificate. */
interface Entrance {
  readonly port: number;
  /** Clients by the source port of their loopback connection. */
  readonly clients: Map<number, Client>;
  connections: number;
  /**
   * Whether a newer certificate is in use. If so, the listener closes after its last connection. Closing the listener
   * earlier would lose the connections in its queue.
   */
  isReplaced: boolean;
  close(): void;
}

/** A client's connection, and the loopback connections that carry the client's bytes. */
interface Client {
  readonly held: HeldConnection;
  /** Adds a loopback connection that carries the client's bytes. */
  opened(end: Deno.Conn): void;
  /** Closes the client's connection and all loopback connections. */
  close(): void;
}

interface Shared {
  readonly handler: HttpHandler;
  readonly table: ConnectionTable;
  /** Connections that are being spliced. */
  readonly passing: Set<Promise<void>>;
  /** Requests without a response. */
  inFlight: number;
  /** Time of the last request or response. */
  lastActivity: number;
  /** Whether each response asks the client to close the connection. */
  isDraining: boolean;
}

/** Implements `Network.serveTls`; without a key pair, serves plain HTTP. */
export async function serveLimited(options: LimitedOptions, handler: HttpHandler): Promise<TlsServer> {
  const table = connectionTable(options.limits, () => performance.now());
  const passing = new Set<Promise<void>>();
  const shared: Shared = { handler, table, passing, inFlight: 0, lastActivity: -Infinity, isDraining: false };
  const listener = listen(options);
  const clients = new Map<number, Client>();
  const server = startServer(clients, shared);
  const http: Entrance = { port: server.address.port, clients, connections: 0, isReplaced: false, close() {} };
  const entranceOf = (keyPair: KeyPair) => listenTls(keyPair, http);
  let newest = http;
  try {
    if (options.keyPair !== undefined) newest = entranceOf(options.keyPair);
  } catch (error) {
    listener.close();
    await server.shutdown();
    throw error;
  }
  const front = acceptAll(listener, (outer) => {
    const passed: Promise<void> = pass(outer, newest, shared).finally(() => shared.passing.delete(passed));
    shared.passing.add(passed);
  });
  const sweeping = setInterval(() => table.sweep(), SWEEP_EVERY);
  return {
    port: listener.addr.port,
    replaceCertificate: (keyPair) =>
      Promise.resolve().then(() => {
        const before = newest;
        newest = entranceOf(keyPair);
        before.isReplaced = true;
        closeIfUnused(before);
      }),
    drain: () => void (shared.isDraining = true),
    async close(milliseconds) {
      const end = performance.now() + milliseconds;
      listener.close();
      await front;
      shared.isDraining = true;
      await within(Math.min(milliseconds, FIRST_REQUESTS), Promise.all(shared.passing));
      await idle(shared, end);
      const isAnswered = shared.inFlight === 0;
      if (isAnswered) await within(LAST_BYTES, Promise.all(shared.passing));
      clearInterval(sweeping);
      table.closeAll();
      newest.close();
      const ended = server.shutdown();
      // A handler that never answers would block the shutdown.
      if (isAnswered) await ended;
      return isAnswered;
    },
  };
}

/** Waits for an idle period. Responses close their connections, so only connections without requests remain afterwards. */
async function idle(shared: Shared, end: number): Promise<void> {
  const isActive = (now: number) => shared.inFlight > 0 || now - shared.lastActivity < IDLE;
  for (let now = performance.now(); isActive(now) && now < end; now = performance.now()) {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

function startServer(clients: Entrance["clients"], shared: Shared): LastingServer<Deno.NetAddr> {
  const answer: Deno.ServeHandler<Deno.NetAddr> = async (request, { remoteAddr, completed }) => {
    const client = clients.get(remoteAddr.port);
    // The request comes from another process in this network namespace and would bypass the limits.
    if (client === undefined) return new Response(null, { status: 403, headers: { connection: "close" } });
    shared.inFlight++;
    shared.lastActivity = performance.now();
    try {
      const response = await shared.handler(request, client.held.remote, exchangeOf(client, completed));
      if (shared.isDraining) response.headers.set("connection", "close");
      return response;
    } finally {
      shared.inFlight--;
      shared.lastActivity = performance.now();
    }
  };
  return serveLasting((signal, before) =>
    Deno.serve({ hostname: LOOPBACK, port: before?.port ?? 0, signal, onListen() {} }, answer)
  );
}

/** Marks a request as in progress on its connection until the response has been sent. */
function exchangeOf({ held, close }: Client, completed: Promise<void>): ServedExchange {
  let stop = () => {};
  held.asked();
  const sent = completed.catch(() => {
    // The client has disconnected.
  }).then(() => {
    stop();
    held.answered();
  });
  return { arrived: () => void (stop = held.waits()), sent, close };
}

function listen({ hostname, port }: LimitedOptions): Deno.TcpListener {
  try {
    return Deno.listen({ hostname, port });
  } catch (error) {
    throw new MeshError(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, { cause: error });
  }
}

/** Listens for TLS with a certificate and splices the decrypted connections to the HTTP server. */
function listenTls({ certificate, key }: KeyPair, http: Entrance): Entrance {
  const address = { hostname: LOOPBACK, port: 0 };
  let listener: Deno.TlsListener;
  try {
    listener = Deno.listenTls({ ...address, cert: certificate, key, alpnProtocols: ["http/1.1"] });
  } catch (error) {
    throw new MeshError(`Cannot use the certificate and its key: ${messageOf(error)}`, {
      cause: error,
      hint: "both must be PEM, and the key must belong to the first certificate",
    });
  }
  const clients = new Map<number, Client>();
  sendAtOnce(listener.addr.port);
  acceptAll(listener, (secured) => passSecured(secured, clients, http));
  return { port: listener.addr.port, clients, connections: 0, isReplaced: false, close: () => listener.close() };
}

function closeIfUnused(entrance: Entrance): void {
  if (entrance.isReplaced && entrance.connections === 0) entrance.close();
}

/** Splices a new connection to the entrance until the connection closes. */
async function pass(outer: Deno.TcpConn, entrance: Entrance, { table }: Shared): Promise<void> {
  const ends: Deno.Conn[] = [outer];
  let isClosed = false;
  const opened = (end: Deno.Conn) => isClosed ? closeBoth(end) : void ends.push(end);
  const close = () => {
    isClosed = true;
    closeBoth(...ends);
  };
  const held = table.hold(outer.remoteAddr.hostname, close);
  if (isClosed) return;
  entrance.connections++;
  outer.setNoDelay();
  await enter(entrance, { held, opened, close }, outer, held);
  close();
  held.ended();
  entrance.connections--;
  closeIfUnused(entrance);
}

/** Splices the decrypted bytes of a TLS connection to the HTTP server. */
async function passSecured(secured: Deno.TlsConn, clients: Entrance["clients"], http: Entrance): Promise<void> {
  // The client may not speak TLS, or may offer no common protocol.
  const isSecured = await secured.handshake().then(() => true, () => false);
  // No client means that another process in this network namespace has connected.
  const client = isSecured ? clients.get(secured.remoteAddr.port) : undefined;
  if (client !== undefined) await enter(http, client, secured, UNCOUNTED);
  closeBoth(secured);
}

/** Splices a client's connection to an entrance until one side closes. */
async function enter({ port, clients }: Entrance, client: Client, from: Deno.Conn, counts: Received): Promise<void> {
  const inner = await Deno.connect({ hostname: LOOPBACK, port }).catch(() => undefined);
  // The connection failed because this process has too many open files.
  if (inner === undefined) return;
  inner.setNoDelay();
  client.opened(inner);
  const key = inner.localAddr.port;
  clients.set(key, client);
  await splice(from, inner, withoutHttp2(counts, client.close));
  // A newer connection may already use the same port.
  if (clients.get(key) === client) clients.delete(key);
}

/** Closes a connection that starts with the HTTP/2 preface, even in pieces, because Deno's server would serve HTTP/2. */
function withoutHttp2({ received, moved }: Received, close: () => void): Watch {
  let matching: number | undefined = 0;
  return {
    received(bytes) {
      for (const byte of bytes) {
        if (matching === undefined) break;
        matching = byte === HTTP2_PREFACE[matching] ? matching + 1 : undefined;
        if (matching === HTTP2_PREFACE.length) close();
      }
      return received(bytes.length);
    },
    moved,
  };
}

type Received = Pick<HeldConnection, "received" | "moved">;

/** Whether the work finished in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
