/**
 * Messages between the webhook and its workers.
 *
 * ```
 * 4 bytes: length of the rest | 1 byte: kind | 4 bytes: number | 4 bytes: length of the head | head, UTF-8 | body
 * ```
 */

/** What a message is about. */
export const KINDS = ["connect", "hello", "configuration", "cluster", "review", "ready", "reviewed"] as const;

/** One message. */
export interface Frame {
  readonly kind: (typeof KINDS)[number];
  /** Ties an answer to its question. */
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

/** Makes messages of the pieces in which they come. */
export class FrameReader {
  #held = new Uint8Array();

  /** The messages that a piece completes. */
  push(piece: Uint8Array): Frame[] {
    const bytes = this.#held.length === 0 ? piece : joined(this.#held, piece);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    const frames: Frame[] = [];
    let at = 0;
    while (at + LENGTH <= bytes.length) {
      const end = at + LENGTH + view.getUint32(at);
      if (end > bytes.length) break;
      frames.push(decodeFrame(bytes.subarray(at, end), view.getUint8(at + LENGTH)));
      at = end;
    }
    this.#held = bytes.slice(at);
    return frames;
  }
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

function joined(first: Uint8Array, second: Uint8Array): Uint8Array {
  const both = new Uint8Array(first.length + second.length);
  both.set(first);
  both.set(second, first.length);
  return both;
}
