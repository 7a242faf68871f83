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
  /** Pieces of a message that has not come whole. */
  #held: Uint8Array[] = [];
  #size = 0;
  /** With so many bytes there is a message, or its length is known. */
  #needed = LENGTH;

  /** The messages that a piece completes. */
  push(piece: Uint8Array): Frame[] {
    this.#held.push(piece);
    this.#size += piece.length;
    if (this.#size < this.#needed) return [];
    const bytes = joined(this.#held, this.#size);
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

/** Where the message ends that begins at a place; where its length ends if that has not come. */
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

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  const [first] = pieces;
  if (first?.length === size) return first;
  const whole = new Uint8Array(size);
  let at = 0;
  for (const piece of pieces) {
    whole.set(piece, at);
    at += piece.length;
  }
  return whole;
}
