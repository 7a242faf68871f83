/** A longer line is given in pieces: a program that never ends its line costs no memory. */
const LONGEST = 1 << 16;

/** The lines of a stream of UTF-8, without their ends; the last one too if it has none. */
export async function* linesOf(stream: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length < LONGEST) continue;
    yield rest;
    rest = "";
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
