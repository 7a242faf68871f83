/**
 * Writes the answers of old releases to the cases. Their programs are built from tags in a clone of istio/istio, which
 * takes a quarter of an hour, and stay in the folder PROGRAMS:
 *
 *     tools/deno run -A test/oracle/legacy/record.ts CLONE PROGRAMS
 */
import { writeAnswers } from "../answers.ts";
import { buildLegacy, BUILDS } from "./build.ts";
import { LEGACY_CASES, type Release } from "./cases.ts";
import { LATER, type Later, LATER_CASES } from "./later_cases.ts";
import { FILES, type LegacyAnswer } from "./recorded.ts";

const [clone = "", programs = ""] = Deno.args;

interface Asked {
  readonly name: string;
  readonly release: Release | Later;
}

async function answers(release: Release | Later, cases: readonly Asked[]): Promise<LegacyAnswer[]> {
  const program = `${await Deno.realPath(programs)}/${release}`;
  if (!await Deno.stat(program).catch(() => undefined)) await buildLegacy(clone, BUILDS[release], program);
  const child = new Deno.Command(program, { stdin: "piped", stdout: "piped", stderr: "null" }).spawn();
  const input = new Blob(cases.map((one) => `${JSON.stringify(one)}\n`));
  const [{ stdout }] = await Promise.all([child.output(), input.stream().pipeTo(child.stdin)]);
  const lines = new TextDecoder().decode(stdout).trimEnd().split("\n");
  return cases.map(({ name }, index) => ({ name, ...JSON.parse(lines[index] ?? "{}") }));
}

async function record(file: URL, releases: readonly (Release | Later)[], cases: readonly Asked[]): Promise<void> {
  const found = new Map<string, LegacyAnswer>();
  for (const release of releases) {
    const asked = cases.filter((one) => one.release === release);
    for (const answer of await answers(release, asked)) found.set(answer.name, answer);
  }
  await writeAnswers(file, cases.map(({ name }) => found.get(name)));
}

await record(FILES.legacy, ["1.1", "1.8"], LEGACY_CASES);
await record(FILES.later, LATER, LATER_CASES.map(({ settings, ...one }) => ({ ...one, ...settings })));
