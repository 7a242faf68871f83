/** Reads and writes an oracle's recorded answers: compressed JSON lines, in the order of the questions. */

/** Reads answers; the caller chooses their type. */
export async function readAnswers<Answer>(file: URL): Promise<Answer[]> {
  const { readable } = await Deno.open(file);
  const text = await new Response(readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

/** Writes answers, and creates the folder if necessary. */
export async function writeAnswers(file: URL, answers: readonly unknown[]): Promise<void> {
  await Deno.mkdir(new URL(".", file), { recursive: true });
  const lines = answers.map((answer) => `${JSON.stringify(answer)}\n`);
  await Deno.writeFile(file, new Blob(lines).stream().pipeThrough(new CompressionStream("gzip")));
}
