/**
 * The frames between the webhook and its workers, over a TCP connection on loopback: Deno's pipes to a child take four times
 * the processor time of a socket.
 *
 * ```
 * 4 bytes: length of the rest | 1 byte: kind | 4 bytes: id | 4 bytes: length of the head | head, UTF-8 | body
 * ```
 */
import { joinBytes } from "../../base/bytes.ts";
import type { ByteConnection } from "../../platform/mod.ts";

/** Kinds of messages. */
export const KINDS = ["connect", "hello", "configuration", "cluster", "review", "ready", "reviewed"] as const;

/** One message. */
export interface Frame {
  readonly kind: (typeof KINDS)[number];
  /** The same in a review and in its answer. */
  readonly id: number;
  readonly head: string;
  readonly body: Uint8Array;
}

const LENGTH = 4;
const START = LENGTH + 9;
const encoder = new TextEncoder();
const decoder = new TextDecoder();
const NO_BODY = new Uint8Array();

/** A message as bytes. */
export function encodeFrame(
  { kind, id = 0, head = "", body = NO_BODY }: Partial<Frame> & Pick<Frame, "kind">,
): Uint8Array<ArrayBuffer> {
  const text = encoder.encode(head);
  const bytes = new Uint8Array(START + text.length + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, bytes.length - LENGTH);
  view.setUint8(LENGTH, KINDS.indexOf(kind));
  view.setUint32(LENGTH + 1, id);
  view.setUint32(LENGTH + 5, text.length);
  bytes.set(text, START);
  bytes.set(body, START + text.length);
  return bytes;
}

/** Joins pieces of the stream to messages. */
export class FrameReader {
  /** Pieces of an incomplete message. */
  #held: Uint8Array[] = [];
  #size = 0;
  /** Bytes until the message is complete, or its length known. */
  #needed = LENGTH;

  /** The messages that a piece completes. */
  push(piece: Uint8Array): Frame[] {
    this.#held.push(piece);
    this.#size += piece.length;
    if (this.#size < this.#needed) return [];
    const bytes = joinBytes(this.#held);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const frames: Frame[] = [];
    let at = 0;
    let end = endOf(view, at);
    for (; end <= bytes.length; end = endOf(view, at)) {
      frames.push(decodeFrame(bytes.subarray(at, end), view.getUint8(at + LENGTH)));
      at = end;
    }
    this.#held = at === bytes.length ? [] : [bytes.slice(at)];
    this.#size = bytes.length - at;
    this.#needed = end - at;
    return frames;
  }
}

/** The end of the message at a position; the end of its length field if that is incomplete. */
function endOf(view: DataView, at: number): number {
  const start = at + LENGTH;
  return start <= view.byteLength ? start + view.getUint32(at) : start;
}

function decodeFrame(bytes: Uint8Array, code: number): Frame {
  const kind = KINDS[code];
  if (kind === undefined) throw new TypeError(`there is no message of kind ${code}`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
  const body = START + view.getUint32(LENGTH + 5);
  return {
    kind,
    id: view.getUint32(LENGTH + 1),
    head: decoder.decode(bytes.subarray(START, body)),
    body: bytes.subarray(body),
  };
}

const BUFFER_BYTES = 64 * 1024;

/** The messages on a connection until its end. Errors: a `TypeError` for an invalid message. */
export async function* messagesOf(connection: ByteConnection): AsyncGenerator<Frame> {
  const buffer = new Uint8Array(BUFFER_BYTES);
  const reader = new FrameReader();
  for (;;) {
    const count = await connection.read(buffer).catch(() => null);
    if (count === null) return;
    yield* reader.push(buffer.slice(0, count));
  }
}

/** Sends messages in the order of the calls. After a failure the connection is closed, so that the reader ends. */
export function senderOn(connection: ByteConnection): (message: Uint8Array) => void {
  const waiting: Uint8Array[] = [];
  let isSending = false;
  const send = async () => {
    isSending = true;
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) await sendWhole(connection, next);
    } catch {
      // The other end closed the connection.
      connection.close();
    }
    isSending = false;
  };
  return (message) => {
    waiting.push(message);
    if (!isSending) void send();
  };
}

async function sendWhole(connection: ByteConnection, message: Uint8Array): Promise<void> {
  for (let sent = 0; sent < message.length;) sent += await connection.write(message.subarray(sent));
}
