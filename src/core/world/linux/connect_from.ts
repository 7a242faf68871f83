/** TCP connections from an address of choice: Deno has no way to bind a socket before it connects. */
import { parseAddress } from "../../net.ts";
import { openSocketLibc } from "./libc.ts";
import { openSocket } from "./sockets.ts";
import { EAGAIN, type Socket, SystemError } from "../system_calls.ts";
import type { Connection, ConnectOptions } from "../world.ts";

/** A send of more could be partial, for which `Socket` has no answer; a new socket's buffer holds this. */
const LARGEST_SEND = 4096;
/** How long a socket is left alone between two looks at it: at first briefly, as most answers come at once. */
const FIRST_WAIT = 1;
const LONGEST_WAIT = 10;
const EINVAL = 22;

/** Connects; see `Network.connect`. */
export async function connect({ hostname, port, source, signal }: ConnectOptions): Promise<Connection> {
  signal.throwIfAborted();
  if (source === undefined) return await Deno.connect({ hostname, port, signal });
  const local = parseAddress(source);
  const remote = parseAddress(numeric(hostname, source));
  if (typeof local === "string" || typeof remote === "string") throw new SystemError("connect", EINVAL);
  const socket = openSocket(openSocketLibc(), { kind: "stream", family: local.family });
  try {
    socket.bind({ address: local, port: 0 });
    socket.connect({ address: remote, port });
    await send(socket, new Uint8Array(0), signal);
  } catch (error) {
    socket.close();
    throw error;
  }
  return connectionOf(socket);
}

/** The address of this machine in the family of the source. */
function numeric(hostname: string, source: string): string {
  if (hostname !== "localhost") return hostname;
  return source.includes(":") ? "::1" : "127.0.0.1";
}

/** Sends when the socket is ready, which a socket that still connects is not. */
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

/** Asks until there is an answer. No thread waits, and nobody is told by the kernel: the socket is none of Deno's. */
async function whenReady<T>(ask: () => T | undefined, signal: AbortSignal): Promise<T> {
  for (let wait = FIRST_WAIT;; wait = Math.min(LONGEST_WAIT, wait + 1)) {
    const answer = ask();
    if (answer !== undefined) return answer;
    await new Promise((resolve) => setTimeout(resolve, wait));
    signal.throwIfAborted();
  }
}

function connectionOf(socket: Socket): Connection {
  const end = new AbortController();
  function close() {
    if (end.signal.aborted) return;
    end.abort();
    socket.close();
  }
  return {
    readable: new ReadableStream<Uint8Array>({
      async pull(controller) {
        const bytes = await whenReady(() => socket.receive(), end.signal);
        if (bytes.length > 0) controller.enqueue(bytes);
        else controller.close();
      },
    }, { highWaterMark: 0 }),
    writable: new WritableStream<Uint8Array>({
      async write(chunk) {
        for (let at = 0; at < chunk.length; at += LARGEST_SEND) {
          await send(socket, chunk.subarray(at, at + LARGEST_SEND), end.signal);
        }
      },
    }),
    close,
  };
}
