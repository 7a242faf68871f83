import type { Value, ValueMap } from "../../../src/core/value.ts";

/** A question to the Go program beside this file; its comment tells what each operation answers. */
export type Question =
  | { op: "merge"; type: string; original: ValueMap; patch: ValueMap }
  | { op: "decode"; type: string; text: string }
  | { op: "quantity"; text: string }
  | { op: "compare"; text: string; other: string }
  | { op: "selector"; original: Value; patch: Value };

/** What Kubernetes' Go code answers. */
export interface Answer {
  readonly result?: Value;
  readonly error?: string;
}

/** Asks the Go program, which `go run` builds (and keeps built); one answer for each question. */
export async function askOracle(questions: readonly Question[]): Promise<Answer[]> {
  const cwd = decodeURIComponent(new URL(".", import.meta.url).pathname);
  const child = new Deno.Command("go", { args: ["run", "."], cwd, stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const input = new Response(questions.map((question) => JSON.stringify(question) + "\n").join("")).body;
  const [, output] = await Promise.all([input?.pipeTo(child.stdin), child.output()]);
  if (!output.success) throw new Error(new TextDecoder().decode(output.stderr));
  const lines = new TextDecoder().decode(output.stdout).trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}
