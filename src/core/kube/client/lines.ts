import { ApiError } from "./api.ts";

/** etcd takes no object larger than 1.5 MiB; escapes and managed fields make it longer. */
const LONGEST = 16 * 1024 * 1024;

/**
 * The lines of a stream, which is cancelled when nobody wants more. The end of the stream, whatever its cause, is the
 * end of the lines: a watch goes on from there.
 * Errors: an ApiError for a line that is too long.
 */
export async function* lines(stream: ReadableStream<Uint8Array>, what: string): AsyncIterable<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  try {
    for (;;) {
      const chunk = await next(reader);
      if (chunk === undefined) return;
      const parts = (rest + decoder.decode(chunk, { stream: true })).split("\n");
      rest = parts.pop() ?? "";
      if (rest.length > LONGEST) throw new ApiError(`An event of ${what} is longer than ${LONGEST} characters`);
      yield* parts.filter((line) => line.trim() !== "");
    }
  } finally {
    // A stream that broke cannot be cancelled any more.
    await reader.cancel().catch(() => {});
  }
}

/** `undefined` when the stream has ended or broken. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<Uint8Array | undefined> {
  try {
    return (await reader.read()).value;
  } catch {
    return undefined;
  }
}
