/** Counts the gRPC messages in passing bytes: in bodies of calls, or in whole HTTP/2 connections. */
import type { ByteConnection } from "../../platform/mod.ts";

/**
 * Returns a function that checks whether the latest bytes complete an occurrence of the text, which may begin in
 * earlier bytes.
 */
export function textFinder(text: string): (bytes: Uint8Array) => boolean {
  const decoder = new TextDecoder("latin1");
  let tail = "";
  return (bytes) => {
    const all = tail + decoder.decode(bytes);
    tail = all.slice(-text.length);
    return all.includes(text);
  };
}

/** Length of a message's head in bytes: compression, length. */
const GRPC_HEAD = 5;

export class BodyCounter {
  /** The number of received bytes of the head, and the message length as far as these bytes contain it. */
  #head = 0;
  #length = 0;
  #rest = 0;

  /** Returns the number of messages whose heads these bytes complete. */
  count(bytes: Uint8Array): number {
    let messages = 0;
    for (let at = 0; at < bytes.length;) {
      if (this.#rest > 0) {
        const passed = Math.min(this.#rest, bytes.length - at);
        this.#rest -= passed;
        at += passed;
      } else if (this.#takeHead(bytes[at++] ?? 0)) messages++;
    }
    return messages;
  }

  get isBetweenMessages(): boolean {
    return this.#rest === 0 && this.#head === 0;
  }

  #takeHead(byte: number): boolean {
    if (this.#head > 0) this.#length = this.#length * 256 + byte;
    if (++this.#head < GRPC_HEAD) return false;
    this.#rest = this.#length;
    this.#head = this.#length = 0;
    return true;
  }
}

/** Length of the text that an HTTP/2 client sends first: `PRI * HTTP/2.0...` (RFC 9113, 3.4). */
export const PREFACE_LENGTH = 24;

/**
 * Length of a frame's head: length (3 bytes), type, flags, stream (4 bytes). Padding adds one byte (RFC 9113, 4.1 and
 * 6.1).
 */
const FRAME_HEAD = 9;
const DATA = 0;
const PADDED = 0x08;

/** Counts the messages in one direction of a connection, over all streams. */
export class ConnectionCounter {
  readonly #head = new Uint8Array(FRAME_HEAD + 1);
  #filled = 0;
  /** Remaining payload of the current DATA frame, in bytes. */
  #data = 0;
  #padding = 0;
  /** Bytes to skip, which belong to the preface, other frames or padding. */
  #skipped: number;
  #stream = 0;
  /** Streams that are in the middle of a message. */
  readonly #bodies = new Map<number, BodyCounter>();

  constructor(prefaceLength: number) {
    this.#skipped = prefaceLength;
  }

  count(bytes: Uint8Array): number {
    let messages = 0;
    for (let at = 0; at < bytes.length;) {
      const left = bytes.length - at;
      if (this.#skipped > 0) {
        const passed = Math.min(this.#skipped, left);
        this.#skipped -= passed;
        at += passed;
      } else if (this.#data > 0) {
        const passed = Math.min(this.#data, left);
        messages += this.#countData(bytes.subarray(at, at + passed));
        at += passed;
      } else this.#takeHead(bytes[at++] ?? 0);
    }
    return messages;
  }

  #countData(bytes: Uint8Array): number {
    const body = this.#bodies.get(this.#stream) ?? new BodyCounter();
    const messages = body.count(bytes);
    if (body.isBetweenMessages) this.#bodies.delete(this.#stream);
    else this.#bodies.set(this.#stream, body);
    this.#data -= bytes.length;
    if (this.#data === 0) this.#skipped = this.#padding;
    return messages;
  }

  #takeHead(byte: number): void {
    const head = this.#head;
    head[this.#filled++] = byte;
    if (this.#filled < FRAME_HEAD) return;
    const view = new DataView(head.buffer);
    const length = view.getUint32(0) >>> 8;
    const isData = head[3] === DATA;
    const isPadded = isData && (view.getUint8(4) & PADDED) !== 0 && length > 0;
    if (isPadded && this.#filled === FRAME_HEAD) return;
    this.#filled = 0;
    if (!isData) return void (this.#skipped = length);
    this.#stream = view.getUint32(5);
    this.#padding = isPadded ? view.getUint8(FRAME_HEAD) : 0;
    this.#data = Math.max(length - this.#padding - (isPadded ? 1 : 0), 0);
    if (this.#data === 0) this.#skipped = this.#padding;
  }
}

/** Returns the connection with callbacks: `read` and `written` receive the bytes that have passed. */
export function observed(
  connection: ByteConnection,
  { read, written }: { readonly read: (bytes: Uint8Array) => void; readonly written: (bytes: Uint8Array) => void },
): ByteConnection {
  return {
    async read(buffer) {
      const count = await connection.read(buffer);
      if (count !== null) read(buffer.subarray(0, count));
      return count;
    },
    async write(bytes) {
      const count = await connection.write(bytes);
      written(bytes.subarray(0, count));
      return count;
    },
    close: () => connection.close(),
  };
}
