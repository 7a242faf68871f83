/**
 * Writes the answers of Istio 1.1 and 1.8 to the cases. Their programs are built as their main.go says:
 *
 *     tools/deno run -A test/oracle/legacy/record.ts PROGRAM-OF-1.1 PROGRAM-OF-1.8
 */
import { writeAnswers } from "../answers.ts";
import { LEGACY_CASES, type LegacyCase } from "./cases.ts";
import { FILE, type LegacyAnswer } from "./recorded.ts";

const programs = { "1.1": Deno.args[0] ?? "", "1.8": Deno.args[1] ?? "" };

async function ask(program: string, cases: readonly LegacyCase[]): Promise<LegacyAnswer[]> {
  const child = new Deno.Command(program, { stdin: "piped", stdout: "piped" }).spawn();
  const input = new Blob(cases.map((one) => `${JSON.stringify(one)}\n`));
  const [{ stdout }] = await Promise.all([child.output(), input.stream().pipeTo(child.stdin)]);
  const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
  return cases.map(({ name }, index) => ({ name, ...JSON.parse(lines[index] ?? "{}") }));
}

const of = (release: LegacyCase["release"]) =>
  ask(programs[release], LEGACY_CASES.filter((one) => one.release === release));
const answers = new Map([...await of("1.1"), ...await of("1.8")].map((answer) => [answer.name, answer]));
await writeAnswers(FILE, LEGACY_CASES.map(({ name }) => answers.get(name)));
