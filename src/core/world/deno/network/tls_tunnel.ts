/** TLS connections that are used through a socket of this machine. */
import net from "node:net";
import tls from "node:tls";
import { isHostName } from "../../../net.ts";
import { connect } from "../../linux/connect_from.ts";
import type { Connection, Exchange } from "../../world.ts";

/** What is sent in clear to this port of 127.0.0.1 goes through the TLS connection; one connection is taken. */
export interface TlsTunnel extends Disposable {
  readonly port: number;
  /** Whether HTTP/2 was agreed on in the handshake. */
  readonly isHttp2: boolean;
  /** Why the TLS connection broke; `undefined` while it has not. */
  failure(): unknown;
}

/** Things to end, last first. */
type Ends = (() => void)[];

/** Connects to the server of an exchange and shakes hands; its certificate is not verified. */
export async function openTls(request: Exchange): Promise<TlsTunnel> {
  const ends: Ends = [];
  const close = () => ends.splice(0).reverse().forEach((end) => end());
  try {
    const socket = await shakeHands(await whereToConnect(request, ends), request, ends);
    const port = await forward(socket, ends);
    return { port, isHttp2: socket.alpnProtocol === "h2", failure: () => socket.errored, [Symbol.dispose]: close };
  } catch (error) {
    close();
    throw error;
  }
}

interface Target {
  readonly host: string;
  readonly port: number;
}

/** The server, or a socket of this machine from which a connection of the wanted source is fed. */
async function whereToConnect({ url, source, signal }: Exchange, ends: Ends): Promise<Target> {
  const { hostname, port: given } = new URL(url);
  const host = hostname.replace(/^\[|\]$/g, "");
  const port = given === "" ? 443 : Number(given);
  if (source === undefined) return { host, port };
  const connection = await connect({ hostname: host, port, source, signal });
  ends.push(() => connection.close());
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  ends.push(() => listener.close());
  splice(listener, connection);
  return { host: "127.0.0.1", port: listener.addr.port };
}

/** Feeds the connection from the first that comes; errors end both, which the other side sees. */
async function splice(listener: Deno.TcpListener, connection: Connection): Promise<void> {
  try {
    const inner = await listener.accept();
    inner.setNoDelay();
    const ways = [inner.readable.pipeTo(connection.writable), connection.readable.pipeTo(inner.writable)];
    await Promise.allSettled(ways);
  } catch {
    // The listener was closed before anybody came.
  }
  connection.close();
}

/** What is sent at once after the handshake would wait 40 ms for an acknowledgement, were it not for `setNoDelay`. */
async function shakeHands(target: Target, { url, protocol, signal }: Exchange, ends: Ends): Promise<tls.TLSSocket> {
  const socket = net.connect(target);
  ends.push(() => void socket.destroy());
  await happened(socket, "connect", signal);
  socket.setNoDelay();
  const { hostname } = new URL(url);
  const options = { socket, rejectUnauthorized: false, ...(isHostName(hostname) ? { servername: hostname } : {}) };
  const offered = protocol === "negotiated" ? { ALPNProtocols: ["h2", "http/1.1"] } : {};
  const secure = tls.connect({ ...options, ...offered });
  ends.push(() => void secure.destroy());
  await happened(secure, "secureConnect", signal);
  return secure;
}

/** Waits for an event of a socket; its end, its errors and the signal are failures. */
function happened(socket: net.Socket, event: string, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.on("error", reject);
    socket.on("close", () => reject(new TypeError("the connection was closed")));
    socket.on(event, () => resolve());
    signal.addEventListener("abort", () => {
      socket.destroy();
      reject(signal.reason);
    }, { once: true });
  });
}

/** A port of this machine whose first connection is that of the socket. */
function forward(socket: tls.TLSSocket, ends: Ends): Promise<number> {
  const server = net.createServer((inner) => {
    server.close();
    inner.setNoDelay();
    ends.push(() => void inner.destroy());
    if (socket.destroyed) inner.destroy();
    inner.on("error", () => socket.destroy());
    inner.pipe(socket);
    socket.pipe(inner);
    socket.on("close", () => inner.destroy());
  });
  ends.push(() => void server.close());
  return new Promise((resolve, reject) => {
    server.on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      resolve(address !== null && typeof address === "object" ? address.port : 0);
    });
  });
}
