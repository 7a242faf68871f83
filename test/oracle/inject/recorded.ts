/** Istio's answers as they are kept: JSON lines, compressed, in the order of the questions. */
import { type Amount } from "./questions.ts";
import type { Answer } from "./question.ts";

/** What was asked. */
export const RECORDED: Amount = { generated: 700, seed: 20260827, step: 13 };

const FILE = new URL("testdata/answers.jsonl.gz", import.meta.url);

/** An answer, and the name of the question by which it is seen that both belong together. */
export interface Recorded {
  readonly name: string;
  readonly answer: Answer;
}

export async function readRecorded(): Promise<Recorded[]> {
  const file = await Deno.open(FILE);
  const text = await new Response(file.readable.pipeThrough(new DecompressionStream("gzip"))).text();
  return text.trimEnd().split("\n").map((line) => JSON.parse(line));
}

export async function writeRecorded(recorded: readonly Recorded[]): Promise<void> {
  await Deno.mkdir(new URL(".", FILE), { recursive: true });
  const lines = recorded.map((item) => `${JSON.stringify(item)}\n`);
  await Deno.writeFile(FILE, new Blob(lines).stream().pipeThrough(new CompressionStream("gzip")));
}
