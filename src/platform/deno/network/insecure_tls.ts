/** TLS without verification of the server's certificate, which only `node:tls` supports. */
import net from "node:net";
import tls from "node:tls";
import { isHostName } from "../../../golang/net/mod.ts";
import type { ByteConnection, Dialed, DialOptions, DialTls } from "../../connection.ts";
import { splice } from "../../splice.ts";
import { tlsReason } from "../../tls_errors.ts";
import { connectionError, NO_ANSWER } from "./connect.ts";
import { closable, readFrom } from "./connections.ts";
import { explained, tlsError } from "./tls.ts";
import { emptyDefaultStore } from "./trust.ts";

/** Connects to an address of a server and does the TLS handshake. Rejects with a `DialError`. */
export async function connectInsecureTls(address: string, options: DialOptions, tls: DialTls): Promise<Dialed> {
  const secure =
    await (options.source === undefined ? connect(address, options, tls) : fromSource(address, options, tls));
  try {
    await happened(secure, "secureConnect", options.signal, () => {});
    const protocol = typeof secure.alpnProtocol === "string" ? secure.alpnProtocol : undefined;
    return { ...explained(bytesOf(secure), options, tls), protocol };
  } catch (error) {
    // A `node:tls` connection that is destroyed during its handshake stays open forever. Destroy it after the
    // handshake.
    secure.once("secureConnect", () => secure.destroy());
    throw tlsError(options, options.signal.aborted ? NO_ANSWER : tlsReason(error, tls), error);
  }
}

async function connect(address: string, options: DialOptions, tls: DialTls): Promise<tls.TLSSocket> {
  const socket = net.connect({ host: address, port: options.port });
  try {
    return await happened(socket, "connect", options.signal, () => startTls(socket, tls));
  } catch (error) {
    socket.destroy();
    throw connectionError(address, options, error);
  }
}

/**
 * `node:net` cannot choose the local address, and `node:tls` accepts only Node's own sockets. So `node:tls` connects to
 * a loopback port that accepts only this connection, and the bytes are spliced to a connection from the wanted address.
 */
async function fromSource(address: string, options: DialOptions, tls: DialTls): Promise<tls.TLSSocket> {
  const { connectFrom } = await import("./connect_from.ts");
  const outer = await connectFrom(address, options);
  let socket: net.Socket | undefined;
  try {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const own = socket = net.connect({ host: "127.0.0.1", port: listener.addr.port });
    const secure = await happened(own, "connect", options.signal, () => startTls(own, tls));
    splice(outer, closable(await acceptFrom(listener, own.localPort)));
    return secure;
  } catch (error) {
    outer.close();
    socket?.destroy();
    throw connectionError(address, options, error);
  }
}

/**
 * Accepts the connection from this local port. Closes all other connections, because any program of the network
 * namespace may connect.
 */
async function acceptFrom(listener: Deno.TcpListener, port: number | undefined): Promise<Deno.TcpConn> {
  for (;;) {
    const connection = await listener.accept();
    if (connection.remoteAddr.port === port) {
      connection.setNoDelay();
      return connection;
    }
    connection.close();
  }
}

/**
 * Starts TLS on a socket. Call this in the handler of the socket's `connect` event. After that event, Node itself reads
 * from the socket, and the handshake would hang.
 */
function startTls(socket: net.Socket, { serverName, identity, protocols }: DialTls): tls.TLSSocket {
  // Without this, the first bytes after the handshake wait 40 ms for an acknowledgement.
  socket.setNoDelay();
  emptyDefaultStore();
  return tls.connect({
    socket,
    rejectUnauthorized: false,
    ...(protocols.length === 0 ? {} : { ALPNProtocols: [...protocols] }),
    ...(isHostName(serverName) ? { servername: serverName } : {}),
    ...(identity === undefined ? {} : { cert: identity.certificate, key: identity.key }),
  });
}

/**
 * Waits for an event of a socket, calls `take` in the event's handler, and returns the result. Rejects if the socket
 * fails or closes, or if the signal fires.
 */
async function happened<T>(socket: net.Socket, event: string, signal: AbortSignal, take: () => T): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const abort = () => reject(signal.reason);
  socket.on("error", reject);
  socket.once("close", () => reject(new TypeError("the connection was closed")));
  socket.once(event, () => resolve(take()));
  signal.addEventListener("abort", abort);
  if (signal.aborted) abort();
  try {
    return await promise;
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

/** Wraps a Node socket as a `ByteConnection` that reads only on request. */
function bytesOf(socket: net.Socket): ByteConnection {
  const chunks: AsyncIterator<Uint8Array> = socket[Symbol.asyncIterator]();
  return {
    read: readFrom(async () => {
      const { value, done } = await chunks.next();
      return done === true ? null : value;
    }),
    write: (bytes) =>
      new Promise((resolve, reject) => {
        socket.write(bytes, (error) => error instanceof Error ? reject(error) : resolve(bytes.length));
      }),
    close: () => void socket.destroy(),
  };
}
