/** One question to one server over UDP. */
import { parseAddress } from "../../core/net.ts";
import type { DatagramAddress, DatagramSocket, Network } from "../../core/world/mod.ts";
import type { Upstream } from "./resolv_conf.ts";
import { isAnswerTo } from "./upstream_answer.ts";
import type { Query } from "./wire.ts";

/** What an answer may have where its asker takes less: what a server sends beyond that size can then still be cut. */
const LEAST_BUFFER = 4096;
/** When to see whether the server's host has refused, in milliseconds after the question. */
const LOOKS: readonly number[] = [10, 50, 200, 1000];

/** What is needed to ask. */
export interface AskContext {
  readonly network: Network;
  /** Ports that questions are sent from. */
  readonly ports: Set<number>;
}

/** A question, as it came and as it is sent. */
export interface Ask {
  readonly server: Upstream;
  readonly query: Query;
  readonly message: Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Sends the question from a port of its own, which nobody can guess, and waits for its answer: others are passed over. Rejects
 * when the server's host refuses, for an answer that is too long, and with the signal's reason.
 */
export async function askUdp({ network, ports }: AskContext, ask: Ask): Promise<Uint8Array> {
  const { server, message, signal } = ask;
  const hostname = server.address.family === 4 ? "0.0.0.0" : "::";
  const socket = await network.bindDatagram({ hostname, port: 0, keepsRefusals: true });
  const failed = Promise.withResolvers<never>();
  failed.promise.catch(() => {});
  const abort = () => failed.reject(signal.reason);
  signal.addEventListener("abort", abort);
  const stop = watchRefusals(socket, failed.reject);
  ports.add(socket.port);
  try {
    signal.throwIfAborted();
    await socket.send(message, { hostname: server.host, port: server.port });
    const answer = answerOf(socket, ask);
    answer.catch(() => {});
    return await Promise.race([answer, failed.promise]);
  } finally {
    stop();
    signal.removeEventListener("abort", abort);
    ports.delete(socket.port);
    socket.close();
  }
}

/** Until the socket is closed, which rejects. */
async function answerOf(socket: DatagramSocket, { server, query, message }: Ask): Promise<Uint8Array> {
  const buffer = new Uint8Array(Math.max(query.udpSize, LEAST_BUFFER) + 1);
  for (;;) {
    const [bytes, from] = await socket.receive(buffer);
    if (!isFrom(server, from)) continue;
    if (bytes.length === buffer.length) throw new RangeError("its answer is longer than was asked for");
    if (isAnswerTo(bytes, query, message)) return bytes;
  }
}

function isFrom({ host, port, address }: Upstream, from: DatagramAddress): boolean {
  if (from.port !== port) return false;
  if (from.hostname === host) return true;
  const sender = parseAddress(from.hostname);
  return typeof sender !== "string" && sender.value === address.value && sender.family === address.family;
}

/** Looks now and then; returns what ends that. */
function watchRefusals(socket: DatagramSocket, refused: (error: Error) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Deno calls a timer that is due even if one before it in the same turn has cleared it.
  let isStopped = false;
  const next = (index: number) => {
    const at = LOOKS[index];
    if (at !== undefined) timer = setTimeout(() => look(index), at - (LOOKS[index - 1] ?? 0));
  };
  const look = (index: number) => {
    if (isStopped) return;
    if (socket.isRefused()) refused(new Error("nobody listens there"));
    else next(index + 1);
  };
  next(0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}
