import { MeshError } from "../../errors.ts";

/** Large lists come in thousands of pieces: with a buffer for each they were most of what is in memory. */
const BUFFER = 128 * 1024;

/** The whole text of an answer; a MeshError if it is longer than so many bytes. */
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

/** The pieces of a body, each to be used before the next one is asked for. */
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
    // A body that broke cannot be cancelled any more.
    await reader.cancel().catch(() => {});
  }
}

/** `undefined` for a stream that has buffers of its own. */
function bytesReader(body: ReadableStream<Uint8Array>): ReadableStreamBYOBReader | undefined {
  try {
    return body.getReader({ mode: "byob" });
  } catch (error) {
    if (error instanceof TypeError && !body.locked) return undefined;
    throw error;
  }
}
