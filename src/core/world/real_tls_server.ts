/**
 * HTTPS whose certificate can be replaced. Deno's server has one certificate for its life, and connections that wait to be
 * accepted are lost when a listener is closed. So one listener stays and takes all connections; behind it, on a port of
 * the loopback interface, is a server for each certificate, and a new connection is passed to the newest, byte by byte:
 * 50 us for a request. That also lets slow and silent clients be shown out, for which Deno's server has no limits.
 */
import { MeshError, messageOf } from "../errors.ts";
import { type ConnectionTable, connectionTable, type HeldConnection } from "./connection_table.ts";
import { sendAtOnce } from "./real_no_delay.ts";
import { closeBoth, splice } from "./real_splice.ts";
import type { KeyPair, TlsServeOptions, TlsServer } from "./tls_server.ts";
import type { HttpHandler } from "./world.ts";

const LOOPBACK = "127.0.0.1";
const SWEEP_EVERY = 1000;
/** How long to wait when no connection can be accepted, as with too many open files. */
const BREATH = 100;

/** A server behind the listener. */
interface Backend {
  readonly port: number;
  /** Answers end their connection (HTTP/1.1). */
  isLast: boolean;
  /** Resolves when its requests are answered. */
  end(): Promise<void>;
}

/** What all parts of a server share. */
interface Shared {
  readonly handler: HttpHandler;
  readonly table: ConnectionTable;
  /** Connections by the port that a backend sees of them. */
  readonly byPort: Map<number, HeldConnection>;
}

/** Serves HTTPS. Rejects with a `MeshError` for an address that cannot be had, and for a certificate or key. */
export async function serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer> {
  const table = connectionTable(options.limits, () => performance.now());
  const shared: Shared = { handler, table, byPort: new Map() };
  const backends = new Set<Backend>();
  let newest = await startBackend(options.keyPair, shared);
  backends.add(newest);
  const retire = retirement(backends, options.retirement);
  const listener = await listen(options, newest);
  const front = acceptAll(listener, (outer) => pass(outer, newest.port, shared));
  const sweeping = setInterval(() => table.sweep(), SWEEP_EVERY);
  return {
    port: listener.addr.port,
    async replaceCertificate(keyPair) {
      const old = newest;
      newest = await startBackend(keyPair, shared);
      newest.isLast = old.isLast;
      backends.add(newest);
      retire.later(old);
    },
    discourage: () => backends.forEach((backend) => backend.isLast = true),
    async close(patience) {
      listener.close();
      await front;
      retire.stop();
      const answered = await within(patience, Promise.all([...backends].map((backend) => backend.end())));
      clearInterval(sweeping);
      table.closeAll();
      return answered;
    },
  };
}

/** Ends backends some time after they were replaced. */
function retirement(backends: Set<Backend>, milliseconds: number) {
  const timers = new Set<ReturnType<typeof setTimeout>>();
  return {
    later(backend: Backend) {
      backend.isLast = true;
      const timer = setTimeout(async () => {
        timers.delete(timer);
        await backend.end();
        backends.delete(backend);
      }, milliseconds);
      timers.add(timer);
    },
    stop: () => timers.forEach((timer) => clearTimeout(timer)),
  };
}

async function startBackend({ certificate: cert, key }: KeyPair, { handler, byPort }: Shared): Promise<Backend> {
  const { promise: listening, resolve } = Promise.withResolvers<number>();
  const onListen = ({ port }: Deno.NetAddr) => resolve(port);
  const backend = { isLast: false };
  const server = serveOn({ hostname: LOOPBACK, port: 0, cert, key, onListen }, async (request, { remoteAddr }) => {
    const connection = byPort.get("port" in remoteAddr ? remoteAddr.port : 0);
    connection?.asked();
    const response = await handler(request, connection?.remote ?? "");
    if (backend.isLast) response.headers.set("connection", "close");
    return response;
  });
  const port = await listening;
  sendAtOnce(port);
  return Object.assign(backend, { port, end: () => server.shutdown() });
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

/** Until the listener is closed. */
async function acceptAll(listener: Deno.TcpListener, take: (connection: Deno.TcpConn) => void): Promise<void> {
  for (;;) {
    try {
      take(await listener.accept());
    } catch (error) {
      if (error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted) return;
      await new Promise((resolve) => setTimeout(resolve, BREATH));
    }
  }
}

/** One connection, to its end. */
async function pass(outer: Deno.TcpConn, port: number, { table, byPort }: Shared): Promise<void> {
  const ends = [outer];
  const held = table.hold(outer.remoteAddr.hostname, () => closeBoth(...ends));
  let key: number | undefined;
  try {
    outer.setNoDelay();
    const inner = await Deno.connect({ hostname: LOOPBACK, port });
    inner.setNoDelay();
    ends.push(inner);
    key = inner.localAddr.port;
    byPort.set(key, held);
    await splice(outer, inner, held.moved);
  } catch {
    // The client went away before anything was passed, or this process has no files left.
  }
  closeBoth(...ends);
  held.ended();
  if (key !== undefined) byPort.delete(key);
}

/** Whether it has come to its end in time. */
async function within(milliseconds: number, work: Promise<unknown>): Promise<boolean> {
  const { promise: late, resolve } = Promise.withResolvers<boolean>();
  const timer = setTimeout(() => resolve(false), milliseconds);
  const inTime = await Promise.race([work.then(() => true), late]);
  clearTimeout(timer);
  return inTime;
}
