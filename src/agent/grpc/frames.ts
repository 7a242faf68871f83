/** gRPC's frames: one byte for compression, four bytes for the length, then the message. */

/** Maximum size of a message, in bytes. The name table of a large mesh takes several megabytes. */
export const MAX_MESSAGE = 64 * 1024 * 1024;

const HEAD = 5;

/** Thrown for bytes that are not gRPC messages. */
export class FrameError extends Error {}

/** Returns a message as an uncompressed frame. */
export function encodeFrame(message: Uint8Array): Uint8Array<ArrayBuffer> {
  const frame = new Uint8Array(HEAD + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, HEAD);
  return frame;
}

/** Splits a stream of bytes into messages. Buffers only the bytes of an incomplete message. */
export class FrameReader {
  readonly #head = new Uint8Array(HEAD);
  #headBytes = 0;
  #message: Uint8Array | undefined;
  #messageBytes = 0;

  constructor(private readonly maxBytes: number = MAX_MESSAGE) {}

  /**
   * Yields the messages that are complete so far. Throws `FrameError` for a message that is too large or compressed.
   */
  *push(bytes: Uint8Array): Generator<Uint8Array> {
    for (let at = 0; at < bytes.length;) {
      at += this.#message === undefined ? this.#takeHead(bytes.subarray(at)) : this.#takeMessage(bytes.subarray(at));
      if (this.#message === undefined || this.#messageBytes < this.#message.length) continue;
      const message = this.#message;
      this.#message = undefined;
      yield message;
    }
  }

  get isWithin(): boolean {
    return this.#headBytes > 0 || this.#message !== undefined;
  }

  #takeHead(bytes: Uint8Array): number {
    const taken = bytes.subarray(0, HEAD - this.#headBytes);
    this.#head.set(taken, this.#headBytes);
    this.#headBytes += taken.length;
    if (this.#headBytes === HEAD) this.#begin();
    return taken.length;
  }

  #begin(): void {
    const view = new DataView(this.#head.buffer);
    if (view.getUint8(0) !== 0) {
      throw new FrameError("a message is compressed, but the client did not offer compression");
    }
    const size = view.getUint32(1);
    if (size > this.maxBytes) {
      throw new FrameError(`a message has ${size} bytes, more than the maximum of ${this.maxBytes}`);
    }
    this.#message = new Uint8Array(size);
    this.#headBytes = this.#messageBytes = 0;
  }

  #takeMessage(bytes: Uint8Array): number {
    const message = this.#message ?? new Uint8Array();
    const taken = bytes.subarray(0, message.length - this.#messageBytes);
    message.set(taken, this.#messageBytes);
    this.#messageBytes += taken.length;
    return taken.length;
  }
}

/**
 * Yields the messages of a body. Throws `FrameError` for invalid frames, and for a body that ends within a message; in
 * both cases, cancels the body.
 */
export async function* frames(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = new FrameReader();
  for await (const bytes of body) yield* reader.push(bytes);
  if (reader.isWithin) throw new FrameError("the body ended within a message");
}
