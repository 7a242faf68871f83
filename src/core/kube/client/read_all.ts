import { MeshError } from "../../errors.ts";

/** Large lists arrive in thousands of chunks: one buffer for all saves most of the memory. */
const BUFFER = 128 * 1024;

/** The whole text of a response; a MeshError if it exceeds `maxBytes`. */
export async function readAll(response: Response, maxBytes: number): Promise<string> {
  const decoder = new TextDecoder();
  const parts: string[] = [];
  let bytes = 0;
  for await (const piece of pieces(response.body)) {
    bytes += piece.length;
    if (bytes > maxBytes) throw new MeshError(`The answer is longer than ${maxBytes} bytes`);
    parts.push(decoder.decode(piece, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}

/** The chunks of a body. A chunk is valid until the next one is read. */
async function* pieces(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
  if (body === null) return;
  const reader = bytesReader(body);
  if (reader === undefined) return yield* body;
  try {
    for (let buffer = new ArrayBuffer(BUFFER);;) {
      const { done, value } = await reader.read(new Uint8Array(buffer));
      if (done) return;
      yield value;
      buffer = value.buffer;
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
