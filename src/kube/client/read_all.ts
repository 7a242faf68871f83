import { MeshError } from "../../base/errors.ts";

const SIZE = 128 * 1024;

/** The whole text of a response; a MeshError if it exceeds `maxBytes`. */
export async function readAll(response: Response, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBytes(response, maxBytes));
}

/**
 * The bytes of a response, at the start of the given buffer, which is detached, or of a larger one. Large lists arrive in
 * thousands of chunks; one buffer for all pages saves most of the memory. Errors: a MeshError beyond `maxBytes`.
 */
export async function readBytes(
  { body }: Response,
  maxBytes: number,
  buffer: ArrayBuffer = new ArrayBuffer(SIZE),
): Promise<Uint8Array<ArrayBuffer>> {
  let [bytes, length] = [new Uint8Array(buffer), 0];
  const reserve = (size: number) => {
    if (length + size > maxBytes) throw new MeshError(`The answer is longer than ${maxBytes} bytes`);
    if (length + size > bytes.length) bytes = new Uint8Array(bytes.buffer.transfer(length + size + bytes.length));
  };
  const reader = body === null ? undefined : bytesReader(body);
  if (reader === undefined) {
    for await (const piece of body ?? []) {
      reserve(piece.length);
      bytes.set(piece, length);
      length += piece.length;
    }
    return bytes.subarray(0, length);
  }
  try {
    for (;; reserve(1)) {
      const { done, value } = await reader.read(bytes.subarray(length));
      if (value !== undefined) bytes = new Uint8Array(value.buffer);
      if (done) return bytes.subarray(0, length);
      length += value.length;
    }
  } finally {
    // Cancelling a failed body fails too.
    await reader.cancel().catch(() => {});
  }
}

/** `undefined` for a stream with its own buffers. */
function bytesReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}
