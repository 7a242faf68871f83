/** TCP connections from a chosen local address: Deno cannot bind a socket before it connects. */
import { parseAddress } from "../../../golang/net/mod.ts";
import type { ByteConnection, DialOptions } from "../../connection.ts";
import { connectionError } from "./connect.ts";
import { clock } from "../clock.ts";
import { readFrom } from "./connections.ts";
import { EAGAIN, type Socket, SystemError } from "../../system_calls.ts";
import { openSocket } from "../../linux/sockets.ts";

/**
 * Maximum bytes per send. A larger send could be partial, which `Socket` cannot report; the send buffer of a new socket
 * holds this many bytes.
 */
const MAX_SEND = 4096;
/** Initial milliseconds between two polls of a socket. Short, because most answers arrive immediately. */
const FIRST_WAIT = 1;
const MAX_WAIT = 10;
const EINVAL = 22;

/** Connects to an address of a server from `source`. Rejects with a `DialError`. */
export async function connectFrom(address: string, options: DialOptions): Promise<ByteConnection> {
  const { port, source = "", signal } = options;
  let socket: Socket | undefined;
  try {
    signal.throwIfAborted();
    const [local, remote] = [parseAddress(source), parseAddress(address)];
    if (typeof local === "string" || typeof remote === "string") throw new SystemError("connect", EINVAL);
    socket = openSocket({ kind: "stream", family: local.family });
    socket.bind({ address: local, port: 0 });
    socket.connect({ address: remote, port });
    await send(socket, new Uint8Array(0), signal);
    return connectionOf(socket);
  } catch (error) {
    socket?.close();
    throw connectionError(address, options, error);
  }
}

/** Sends bytes when the socket is connected. */
async function send(socket: Socket, bytes: Uint8Array, signal: AbortSignal): Promise<void> {
  await whenReady(() => {
    const failure = socket.failure();
    if (failure !== 0) throw new SystemError("connect", failure);
    try {
      socket.send(bytes);
      return true;
    } catch (error) {
      if (error instanceof SystemError && error.errno === EAGAIN) return undefined;
      throw error;
    }
  }, signal);
}

/** Polls until `ask` returns a value, because Deno cannot wait for this socket and a thread must not block. */
async function whenReady<T>(ask: () => T | undefined, signal: AbortSignal): Promise<T> {
  for (let wait = FIRST_WAIT;; wait = Math.min(MAX_WAIT, wait + 1)) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await clock.sleep(wait, signal);
    signal.throwIfAborted();
  }
}

function connectionOf(socket: Socket): ByteConnection {
  const end = new AbortController();
  return {
    read: readFrom(() => whenReady(() => socket.receive(), end.signal)),
    async write(bytes) {
      const part = bytes.subarray(0, MAX_SEND);
      await send(socket, part, end.signal);
      return part.length;
    },
    close() {
      if (end.signal.aborted) return;
      end.abort();
      socket.close();
    },
  };
}
