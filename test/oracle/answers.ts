/** Answers of an oracle as they are kept: JSON lines, compressed, in the order of the questions. */

/** Reads them; the caller knows what they are. */
export async function readAnswers<Answer>(file: URL): Promise<Answer[]> {
  const { readable } = await Deno.open(file);
  const text = await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Writes them, and the folder that they are in. */
export async function writeAnswers(file: URL, answers: readonly unknown[]): Promise<void> {
  await Deno.mkdir(new URL(".", file), { recursive: true });
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`);
  await Deno.writeFile(file, new Blob(lines).stream().pipeThrough(new CompressionStream("gzip")));
}
