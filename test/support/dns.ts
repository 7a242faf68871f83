/** Clients and servers of DNS for tests, which read and write messages by another library than the program. */
import dnsPacket from "dns-packet";
import dgram from "node:dgram";
import net from "node:net";
import { Buffer } from "node:buffer";

/** A record, by what the library calls its fields. */
export interface RecordData {
  readonly type: string;
  readonly name: string;
  readonly ttl?: number;
  readonly class?: string;
  readonly data?: unknown;
  readonly udpPayloadSize?: number;
}

/** A message, as much as tests look at. */
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
  readonly additionals?: readonly RecordData[];
}

/** What is used of the library, which has no types of its own. */
interface Packets {
  encode(message: Message): Uint8Array;
  decode(bytes: Uint8Array): Message;
  readonly RECURSION_DESIRED: number;
  readonly RECURSION_AVAILABLE: number;
  readonly TRUNCATED_RESPONSE: number;
}

export const packet: Packets = dnsPacket;

/** A question as bytes. */
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

/** Sends bytes by UDP and waits for the answer to them, at most so long. */
export async function askUdp(
  port: number,
  bytes: Uint8Array,
  host = "127.0.0.1",
  patience = 10_000,
): Promise<Uint8Array> {
  const socket = dgram.createSocket(host.includes(":") ? "udp6" : "udp4");
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array>();
  const timer = setTimeout(() => reject(new Error("no answer over UDP")), patience);
  socket.on("message", (message) => resolve(new Uint8Array(message)));
  socket.send(bytes, port, host);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.close();
  }
}

/** Sends messages on one TCP connection, all at once, and gives so many answers as they come. */
export async function askTcp(port: number, messages: readonly Uint8Array[], host = "127.0.0.1"): Promise<Uint8Array[]> {
  const socket = net.connect(port, host);
  const { promise, resolve, reject } = Promise.withResolvers<Uint8Array[]>();
  const timer = setTimeout(() => reject(new Error("no answer over TCP")), 10_000);
  let held = Buffer.alloc(0);
  const answers: Uint8Array[] = [];
  socket.on("data", (bytes) => {
    held = Buffer.concat([held, bytes]);
    for (let size = sizeOf(held); held.length >= size; size = sizeOf(held)) {
      answers.push(new Uint8Array(held.subarray(2, size)));
      held = held.subarray(size);
    }
    if (answers.length >= messages.length) resolve(answers);
  });
  socket.on("error", reject);
  socket.on("close", () => reject(new Error(`the connection was ended after ${answers.length} answers`)));
  socket.write(
    Buffer.concat(messages.map((each) => Buffer.concat([Uint8Array.of(each.length >> 8, each.length & 255), each]))),
  );
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    socket.destroy();
  }
}

function sizeOf(bytes: Uint8Array): number {
  return bytes.length < 2 ? Infinity : 2 + ((bytes[0] ?? 0) << 8 | (bytes[1] ?? 0));
}

export function decoded(bytes: Uint8Array): Message {
  return packet.decode(Buffer.from(bytes));
}

/** What a server does with a question: the answers it sends back, any bytes, none or several. */
export type Behaviour = (question: Message, bytes: Uint8Array, transport: "udp" | "tcp") => readonly Uint8Array[];

/** A server of UDP and TCP on one port of loopback. */
export async function fakeUpstream(behave: Behaviour, host = "127.0.0.1") {
  const seen: Message[] = [];
  const tcp = net.createServer((socket) => {
    socket.on("error", () => {});
    socket.on("data", (bytes) => {
      const message = new Uint8Array(Buffer.from(bytes).subarray(2));
      seen.push(decoded(message));
      for (const answer of behave(decoded(message), message, "tcp")) {
        socket.write(Buffer.concat([Uint8Array.of(answer.length >> 8, answer.length & 255), answer]));
      }
    });
  });
  await new Promise<void>((resolve) => tcp.listen(0, host, resolve));
  const address = tcp.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const udp = dgram.createSocket(host.includes(":") ? "udp6" : "udp4");
  udp.on("message", (bytes, from) => {
    const message = new Uint8Array(bytes);
    seen.push(decoded(message));
    for (const answer of behave(decoded(message), message, "udp")) udp.send(answer, from.port, from.address);
  });
  await new Promise<void>((resolve) => udp.bind(address.port, host, resolve));
  return {
    port: address.port,
    seen,
    async [Symbol.asyncDispose]() {
      await new Promise<void>((resolve) => udp.close(() => resolve()));
      await new Promise<void>((resolve) => tcp.close(() => resolve()));
    },
  };
}

/** The answer to a question with these addresses. */
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

/** Names and addresses of the answers, in a form that is easily compared; addresses sorted. */
export function answersOf(message: Message): string[] {
  const texts = (message.answers ?? []).map((record) =>
    `${record.name} ${record.type} ${String(record.data)} ${record.ttl}`
  );
  const [first = ""] = texts;
  return first.includes(" CNAME ") ? [first, ...texts.slice(1).sort()] : texts.sort();
}
