import { MeshError } from "../../base/errors.ts";

const SIZE = 128 * 1024;

/** Reads the whole text of a response. Rejects with a MeshError if the text exceeds `maxBytes`. */
export async function readAll(response: Response, maxBytes: number): Promise<string> {
  return new TextDecoder().decode(await readBytes(response, maxBytes));
}

/**
 * Reads the bytes of a response into the given buffer, or into a larger one if they do not fit. The given buffer cannot
 * be used afterwards. Large lists arrive in thousands of chunks, so one buffer for all pages saves most of the memory.
 * Rejects with a MeshError if the response has more than `maxBytes`.
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
    // Ignores the error, because cancelling a failed body also fails.
    await reader.cancel().catch(() => {});
  }
}

/** Returns a reader that fills given buffers; `undefined` for a stream with its own buffers. */
function bytesReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}
