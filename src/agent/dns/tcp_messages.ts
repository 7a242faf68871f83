/** DNS messages over TCP. A length of two bytes precedes each message (RFC 1035 4.2.2, RFC 7766). */
import type { ByteConnection } from "../../platform/mod.ts";

const PREFIX = 2;

export class MessageReader {
  #buffer = new Uint8Array(1024);
  #start = 0;
  #end = 0;

  constructor(private readonly connection: ByteConnection) {}

  /** Returns a copy of the next message; `undefined` when the connection ends, even within a message. */
  async next(): Promise<Uint8Array | undefined> {
    if (!await this.#fill(PREFIX)) return undefined;
    const length = (this.#buffer[this.#start] ?? 0) << 8 | (this.#buffer[this.#start + 1] ?? 0);
    if (!await this.#fill(PREFIX + length)) return undefined;
    const from = this.#start + PREFIX;
    this.#start = from + length;
    return this.#buffer.slice(from, this.#start);
  }

  async #fill(count: number): Promise<boolean> {
    while (this.#end - this.#start < count) {
      this.#reserve(count);
      const read = await this.connection.read(this.#buffer.subarray(this.#end));
      if (read === null) return false;
      this.#end += read;
    }
    return true;
  }

  #reserve(count: number): void {
    if (this.#start + count <= this.#buffer.length) return;
    const held = this.#buffer.subarray(this.#start, this.#end);
    if (count > this.#buffer.length) {
      const larger = new Uint8Array(Math.max(count, this.#buffer.length * 2));
      larger.set(held);
      this.#buffer = larger;
    } else this.#buffer.copyWithin(0, this.#start, this.#end);
    [this.#start, this.#end] = [0, held.length];
  }
}

/** Writes a message with its length. */
export async function writeMessage(connection: ByteConnection, message: Uint8Array): Promise<void> {
  const bytes = new Uint8Array(PREFIX + message.length);
  bytes.set([message.length >> 8, message.length & 255]);
  bytes.set(message, PREFIX);
  for (let at = 0; at < bytes.length;) at += await connection.write(bytes.subarray(at));
}
