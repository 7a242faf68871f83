/** DNS clients and servers for tests. They do not use the program's DNS code, but a library. */
import dnsPacket from "dns-packet";
import dgram from "node:dgram";
import { Buffer } from "node:buffer";

/** A DNS record, with the library's field names. */
export interface RecordData {
  readonly type: string;
  readonly name: string;
  readonly ttl?: number;
  readonly class?: string;
  readonly data?: unknown;
  readonly udpPayloadSize?: number;
}

/** The fields of a message that tests check. */
export interface Message {
  readonly type?: string;
  readonly id?: number;
  readonly flags?: number;
  readonly rcode?: string;
  readonly opcode?: string;
  readonly flag_tc?: boolean;
  readonly flag_aa?: boolean;
  readonly flag_qr?: boolean;
  readonly questions?: readonly RecordData[];
  readonly answers?: readonly RecordData[];
  readonly authorities?: readonly RecordData[];
  readonly additionals?: readonly RecordData[];
}

/** Types for the parts of the library used here, which has no types. */
interface Packets {
  encode(message: Message): Uint8Array;
  decode(bytes: Uint8Array): Message;
  readonly RECURSION_DESIRED: number;
  readonly RECURSION_AVAILABLE: number;
  readonly TRUNCATED_RESPONSE: number;
}

export const packet: Packets = dnsPacket;

/** Encodes a question. */
export function questionBytes(
  name: string,
  type = "A",
  options: { readonly id?: number; readonly udpSize?: number } = {},
): Uint8Array {
  const opt = {
    type: "OPT",
    name: ".",
    udpPayloadSize: options.udpSize ?? 0,
    extendedRcode: 0,
    ednsVersion: 0,
    flags: 0,
    flag_do: false,
    options: [],
  };
  return packet.encode({
    type: "query",
    id: options.id ?? 1 + Math.floor(Math.random() * 65_000),
    flags: packet.RECURSION_DESIRED,
    questions: [{ type, name, class: "IN" }],
    additionals: options.udpSize === undefined ? [] : [opt],
  });
}

/** Sends bytes over UDP and waits for the response, for at most `timeout` milliseconds. */
export async function askUdp(
  port: number,
  bytes: Uint8Array,
  host = "127.0.0.1",
  timeout = 10_000,
): Promise<Uint8Array> {
  const socket = dgram.createSocket(host.includes(":") ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const timer = setTimeout(() => reject(new Error("no answer over UDP")), timeout);
  socket.on("message", (message) => resolve(new Uint8Array(message)));
  socket.send(bytes, port, host);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/**
 * Sends all messages immediately, on one TCP connection. Returns `count` responses in the order in which they arrive.
 */
export async function askTcp(
  port: number,
  messages: readonly Uint8Array[],
  hostname = "127.0.0.1",
): Promise<Uint8Array[]> {
  const connection = await Deno.connect({ hostname, port });
  const timer = setTimeout(() => connection.close(), 10_000);
  try {
    const prefixed = messages.flatMap((each) => [Uint8Array.of(each.length >> 8, each.length & 255), each]);
    await connection.write(Buffer.concat(prefixed));
    return await readAnswers(connection, messages.length);
  } finally {
    clearTimeout(timer);
    connection.close();
  }
}

async function readAnswers(connection: Deno.TcpConn, wanted: number): Promise<Uint8Array[]> {
  const answers: Uint8Array[] = [];
  const buffer = new Uint8Array(65_537);
  let held = Buffer.alloc(0);
  while (answers.length < wanted) {
    const count = await connection.read(buffer);
    if (count === null) throw new Error(`the connection was ended after ${answers.length} answers`);
    held = Buffer.concat([held, buffer.subarray(0, count)]);
    for (let size = sizeOf(held); held.length >= size; size = sizeOf(held)) {
      answers.push(new Uint8Array(held.subarray(2, size)));
      held = held.subarray(size);
    }
  }
  return answers;
}

function sizeOf(bytes: Uint8Array): number {
  return bytes.length < 2 ? Infinity : 2 + ((bytes[0] ?? 0) << 8 | (bytes[1] ?? 0));
}

export function decoded(bytes: Uint8Array): Message {
  return packet.decode(Buffer.from(bytes));
}

/** Returns a server's responses to a question: zero or more, with any bytes. */
export type Behaviour = (question: Message, bytes: Uint8Array, transport: "udp" | "tcp") => readonly Uint8Array[];

/** Starts a UDP and TCP server on one loopback port. */
export function fakeUpstream(behave: Behaviour, hostname = "127.0.0.1", onPort = 0) {
  const seen: Message[] = [];
  const answersTo = (bytes: Uint8Array, transport: "udp" | "tcp") => {
    const question = decoded(bytes);
    seen.push(question);
    return behave(question, bytes, transport);
  };
  const tcp = Deno.listen({ hostname, port: onPort });
  const { port } = tcp.addr;
  const udp = Deno.listenDatagram({ transport: "udp", hostname, port });
  const ended = [serveDatagrams(udp, answersTo), serveConnections(tcp, answersTo)];
  return {
    port,
    seen,
    async [Symbol.asyncDispose]() {
      udp.close();
      tcp.close();
      await Promise.all(ended);
    },
  };
}

type Answers = (bytes: Uint8Array, transport: "udp" | "tcp") => readonly Uint8Array[];

async function serveDatagrams(socket: Deno.DatagramConn, answersTo: Answers): Promise<void> {
  try {
    for await (const [bytes, from] of socket) {
      for (const answer of answersTo(bytes, "udp")) await socket.send(answer, from);
    }
  } catch {
    // The server is closed.
  }
}

async function serveConnections(listener: Deno.TcpListener, answersTo: Answers): Promise<void> {
  const open: Promise<void>[] = [];
  for await (const connection of listener) open.push(serveConnection(connection, answersTo));
  await Promise.all(open);
}

/** Reads whole questions, because clients send each with one write. */
async function serveConnection(connection: Deno.TcpConn, answersTo: Answers): Promise<void> {
  const buffer = new Uint8Array(65_537);
  try {
    for (let count = await connection.read(buffer); count !== null; count = await connection.read(buffer)) {
      for (const answer of answersTo(buffer.slice(2, count), "tcp")) {
        await connection.write(Buffer.concat([Uint8Array.of(answer.length >> 8, answer.length & 255), answer]));
      }
    }
  } catch {
    // The client has disconnected.
  }
  connection.close();
}

/** Returns the response to a question with these addresses. */
export function addressAnswer(
  question: Message,
  addresses: readonly string[],
  options: Partial<Message> = {},
): Uint8Array {
  const [asked] = question.questions ?? [];
  if (asked === undefined) throw new Error("no question");
  return packet.encode({
    type: "response",
    id: question.id ?? 0,
    flags: packet.RECURSION_DESIRED | packet.RECURSION_AVAILABLE,
    questions: [asked],
    answers: addresses.map((data) => ({ type: "A", name: asked.name, ttl: 5, class: "IN", data })),
    ...options,
  });
}

/** Returns the names and sorted addresses in a response, for comparison. */
export function answersOf(message: Message): string[] {
  const texts = (message.answers ?? []).map((record) =>
    `${record.name} ${record.type} ${String(record.data)} ${record.ttl}`
  );
  const [first = ""] = texts;
  return first.includes(" CNAME ") ? [first, ...texts.slice(1).sort()] : texts.sort();
}
