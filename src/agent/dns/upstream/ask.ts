/** Sends one question to one upstream server, over UDP or TCP, and checks the answer. */
import { parseAddress } from "../../../golang/net/mod.ts";
import { type DatagramAddress, type DatagramSocket, type Network, unlessAborted } from "../../../platform/mod.ts";
import type { Upstream } from "./resolv_conf.ts";
import { byteAt, countsOf, FLAG, HEADER_LENGTH, type Query, readRecords } from "../wire.ts";
import { MessageReader, writeMessage } from "../tcp_messages.ts";

/** Minimum receive buffer in bytes: a server may send more than the client accepts (Istio's issue 61371). */
const MIN_BUFFER = 4096;
/** Times at which to check for ICMP errors, in milliseconds after the question. */
const CHECK_TIMES: readonly number[] = [10, 50, 200, 1000];

export interface AskContext {
  readonly network: Network;
  readonly ports: Set<number>;
}

export interface Ask {
  readonly server: Upstream;
  readonly query: Query;
  readonly message: Uint8Array;
  readonly signal: AbortSignal;
}

/**
 * Sends a question over UDP from a random port, and ignores unrelated datagrams. Repeats the question over TCP if the
 * answer exceeds the buffer. Rejects on an ICMP error, and, with the signal's reason, if the signal aborts.
 */
export async function askUdp(context: AskContext, ask: Ask): Promise<Uint8Array> {
  return await askOverUdp(context, ask) ?? await askTcp(context, ask);
}

async function askOverUdp({ network, ports }: AskContext, ask: Ask): Promise<Uint8Array | undefined> {
  const { server, message, signal } = ask;
  const hostname = server.address.family === 4 ? "0.0.0.0" : "::";
  const socket = await network.bindDatagram({ hostname, port: 0, keepsRefusals: true });
  const refused = Promise.withResolvers<never>();
  refused.promise.catch(() => {});
  const stop = watchIcmpErrors(socket, refused.reject);
  ports.add(socket.port);
  try {
    signal.throwIfAborted();
    await socket.send(message, { hostname: server.host, port: server.port });
    const answer = answerOf(socket, ask);
    answer.catch(() => {});
    return await unlessAborted(Promise.race([answer, refused.promise]), signal);
  } finally {
    stop();
    ports.delete(socket.port);
    socket.close();
  }
}

/**
 * Resolves with the answer, or with `undefined` if the answer exceeds the buffer. Rejects when the socket is closed.
 */
async function answerOf(socket: DatagramSocket, { server, query, message }: Ask): Promise<Uint8Array | undefined> {
  const buffer = new Uint8Array(Math.max(query.udpSize, MIN_BUFFER) + 1);
  for (;;) {
    const [bytes, from] = await socket.receive(buffer);
    if (!isFrom(server, from)) continue;
    if (bytes.length === buffer.length) return undefined;
    if (isAnswerTo(bytes, query, message)) return bytes;
  }
}

function isFrom({ host, port, address }: Upstream, from: DatagramAddress): boolean {
  if (from.port !== port) return false;
  if (from.hostname === host) return true;
  const sender = parseAddress(from.hostname);
  return typeof sender !== "string" && sender.value === address.value && sender.family === address.family;
}

/** Starts the checks for ICMP errors, and returns a function that stops them. */
function watchIcmpErrors(socket: DatagramSocket, refused: (error: Error) => void): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  // Deno may run a due timer that was cleared in the same turn.
  let isStopped = false;
  const next = (index: number) => {
    const at = CHECK_TIMES[index];
    if (at !== undefined) timer = setTimeout(() => check(index), at - (CHECK_TIMES[index - 1] ?? 0));
  };
  const check = (index: number) => {
    if (isStopped) return;
    if (socket.isRefused()) refused(new Error("connection refused"));
    else next(index + 1);
  };
  next(0);
  return () => {
    isStopped = true;
    clearTimeout(timer);
  };
}

/**
 * Sends a question over TCP. Rejects on failure or a wrong answer. If the signal aborts, rejects with the signal's
 * reason.
 */
export async function askTcp({ network }: Pick<AskContext, "network">, ask: Ask): Promise<Uint8Array> {
  const { server, query, message, signal } = ask;
  const connection = await network.dial({ host: server.host, port: server.port, tls: undefined, signal });
  try {
    const answered = writeMessage(connection, message).then(() => new MessageReader(connection).next());
    answered.catch(() => {});
    const answer = await unlessAborted(answered, signal);
    if (answer === undefined) throw new Error("the server closed the connection without an answer");
    if (!isAnswerTo(answer, query, message)) throw new Error("the answer does not match the question");
    return answer;
  } finally {
    connection.close();
  }
}

const RCODE = 0x0f;

/** Whether the ID and the question match, regardless of letter case. An error response may omit the question. */
export function isAnswerTo(answer: Uint8Array, query: Query, message: Uint8Array): boolean {
  if (answer.length < HEADER_LENGTH || (byteAt(answer, 2) & FLAG.response) === 0) return false;
  if (answer[0] !== message[0] || answer[1] !== message[1]) return false;
  const [questions, ...others] = countsOf(answer);
  const records = others.reduce((sum, count) => sum + count);
  if (questions === 0) {
    return (byteAt(answer, 3) & RCODE) !== 0 && readRecords(answer, HEADER_LENGTH, records) !== undefined;
  }
  return questions === 1 && hasQuestion(answer, query) && readRecords(answer, query.questionEnd, records) !== undefined;
}

function hasQuestion(answer: Uint8Array, { bytes, questionEnd }: Query): boolean {
  if (answer.length < questionEnd) return false;
  for (let at = HEADER_LENGTH; at < questionEnd - 4; at++) {
    if (lowerCase(byteAt(answer, at)) !== lowerCase(byteAt(bytes, at))) return false;
  }
  for (let at = questionEnd - 4; at < questionEnd; at++) if (answer[at] !== bytes[at]) return false;
  return true;
}

/** Returns a byte in lower case. Label lengths stay unchanged, because they are below the codes of letters. */
function lowerCase(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte | 0x20 : byte;
}

/** Returns the answer with the client's ID and the client's spelling of the question. */
export function restoreQuestion(answer: Uint8Array, { bytes, questionEnd }: Query): Uint8Array {
  answer.set(bytes.subarray(0, 2));
  if (countsOf(answer)[0] === 1) answer.set(bytes.subarray(HEADER_LENGTH, questionEnd), HEADER_LENGTH);
  return answer;
}
