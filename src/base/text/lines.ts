/** Maximum length of a line; longer lines are split, so that memory stays bounded. */
const MAX_LENGTH = 1 << 16;

/** Yields the lines of a UTF-8 stream without line ends, including an unterminated last line. */
export async function* linesOf(stream: AsyncIterable<Uint8Array> | null): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of stream ?? []) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
    if (rest.length < MAX_LENGTH) continue;
    yield rest;
    rest = "";
  }
  rest += decoder.decode();
  if (rest !== "") yield rest;
}
