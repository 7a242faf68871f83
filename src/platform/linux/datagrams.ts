/** A UDP server that receives and sends several datagrams per system call (recvmmsg(2), sendmmsg(2)). */
import type { DatagramHandler } from "../connection.ts";
import { openLibc } from "./libc.ts";

const FUNCTIONS = {
  recvmmsg: { parameters: ["i32", "buffer", "u32", "i32", "pointer"], result: "i32" },
  sendmmsg: { parameters: ["i32", "buffer", "u32", "i32"], result: "i32" },
} as const;
/** Maximum number of datagrams per system call. */
const MAX_DATAGRAMS = 16;
/** Buffer size of a datagram, in bytes. Unused parts of a buffer are not resident in memory. */
const SLOT = 65_536;
/** Size of `struct sockaddr_in6`, rounded up. The port is at offset 2. */
const NAME = 32;
/** Size and field offsets of `struct mmsghdr` on 64-bit Linux. */
const HEADER = { size: 64, name: 0, nameLength: 8, vectors: 16, count: 24, received: 56 } as const;
/** Size of `struct iovec`, and the offset of its length. */
const VECTOR = { size: 16, length: 8 } as const;
const DONT_WAIT = 0x40;
/**
 * If the queue was empty after this many consecutive datagrams, the server checks the queue only after every eighth
 * datagram.
 */
const ALONE = 8;

/** Answers datagrams through the file descriptor of their socket. */
export class DatagramServer {
  readonly #libc = openLibc(FUNCTIONS);
  readonly #received = new Slots();
  readonly #answers = new Slots();
  /** Number of answers that are not yet sent. */
  #waiting = 0;
  #alone = 0;
  #isClosed = false;

  constructor(private readonly file: number, private readonly handler: DatagramHandler) {}

  /** Answers a datagram from the socket address `name`, then the datagrams that wait in the socket's queue. */
  answer(bytes: Uint8Array, port: number, name: Uint8Array): void {
    this.#answerOne(bytes, port, name);
    if (this.#alone < ALONE || this.#alone % ALONE === 0) this.#alone = this.#answerMore() ? 0 : this.#alone + 1;
    else this.#alone++;
    this.#send();
  }

  /** Stops sending. Call this before closing the socket, because a new socket may get the same file descriptor. */
  close(): void {
    if (!this.#isClosed) this.#libc.close();
    this.#isClosed = true;
  }

  /** Answers the datagrams in the queue. Returns whether the queue had any. */
  #answerMore(): boolean {
    for (let isFirst = true;; isFirst = false) {
      this.#send();
      this.#received.clear();
      const count = this.#libc.symbols.recvmmsg(this.file, this.#received.headers, MAX_DATAGRAMS, DONT_WAIT, null);
      for (let at = 0; at < count; at++) {
        const name = this.#received.name(at);
        this.#answerOne(this.#received.bytes(at), (name[2] ?? 0) << 8 | (name[3] ?? 0), name);
      }
      if (count < MAX_DATAGRAMS) return !isFirst || count > 0;
    }
  }

  #answerOne(bytes: Uint8Array, port: number, name: Uint8Array): void {
    const answer = this.handler(bytes, port);
    if (answer instanceof Promise) this.#answerLater(answer, name.slice());
    else if (answer !== undefined) this.#answers.put(this.#waiting++, answer, name);
  }

  #answerLater(answer: Promise<Uint8Array>, name: Uint8Array): void {
    answer.then((bytes) => {
      if (this.#isClosed) return;
      this.#answers.put(this.#waiting++, bytes, name);
      this.#send();
    }).catch(() => {});
  }

  /** Sends the answers. A failed datagram ends the system call; the next call sends the remaining datagrams. */
  #send(): void {
    for (let done = 0; done < this.#waiting;) {
      const headers = done === 0 ? this.#answers.headers : this.#answers.headers.subarray(done * HEADER.size);
      done += Math.max(this.#libc.symbols.sendmmsg(this.file, headers, this.#waiting - done, DONT_WAIT), 1);
    }
    this.#waiting = 0;
  }
}

/** The datagrams of one system call. Each has a buffer for the bytes and a buffer for the address of the peer. */
class Slots {
  readonly headers = new Uint8Array(MAX_DATAGRAMS * HEADER.size);
  readonly #header = new DataView(this.headers.buffer);
  readonly #vectors = new DataView(new ArrayBuffer(MAX_DATAGRAMS * VECTOR.size));
  readonly #bytes = new Uint8Array(MAX_DATAGRAMS * SLOT);
  readonly #names = new Uint8Array(MAX_DATAGRAMS * NAME);

  constructor() {
    const [vectors, bytes, names] = [addressOf(this.#vectors), addressOf(this.#bytes), addressOf(this.#names)];
    for (let at = 0; at < MAX_DATAGRAMS; at++) {
      const header = at * HEADER.size;
      this.#header.setBigUint64(header + HEADER.name, names + BigInt(at * NAME), true);
      this.#header.setBigUint64(header + HEADER.vectors, vectors + BigInt(at * VECTOR.size), true);
      this.#header.setBigUint64(header + HEADER.count, 1n, true);
      this.#vectors.setBigUint64(at * VECTOR.size, bytes + BigInt(at * SLOT), true);
      this.#vectors.setBigUint64(at * VECTOR.size + VECTOR.length, BigInt(SLOT), true);
    }
  }

  /** Resets the address lengths, which the kernel overwrites, so that each slot accepts an address of any family. */
  clear(): void {
    for (let at = HEADER.nameLength; at < MAX_DATAGRAMS * HEADER.size; at += HEADER.size) {
      this.#header.setUint32(at, NAME, true);
    }
  }

  bytes(at: number): Uint8Array {
    const length = this.#header.getUint32(at * HEADER.size + HEADER.received, true);
    return this.#bytes.subarray(at * SLOT, at * SLOT + length);
  }

  name(at: number): Uint8Array {
    const length = this.#header.getUint32(at * HEADER.size + HEADER.nameLength, true);
    return this.#names.subarray(at * NAME, at * NAME + length);
  }

  put(at: number, bytes: Uint8Array, name: Uint8Array): void {
    this.#bytes.set(bytes, at * SLOT);
    this.#names.set(name, at * NAME);
    this.#header.setUint32(at * HEADER.size + HEADER.nameLength, name.length, true);
    this.#vectors.setUint32(at * VECTOR.size + VECTOR.length, bytes.length, true);
  }
}

function addressOf(bytes: ArrayBufferView<ArrayBuffer>): bigint {
  return Deno.UnsafePointer.value(Deno.UnsafePointer.of(bytes));
}
