/**
 * Checks that cost is linear in the size of the input. Every reader gets inputs of each shape in three sizes, n, 2n and
 * 4n, each in a separate process. Prints a Markdown table of processor time (user and system, so that other load does
 * not count) and peak memory, with the ratio of the times for 4n and n: 4 is linear, 16 is quadratic. Exits with 1 if a
 * ratio is above `LIMIT`, or if a run takes longer than `DEADLINE`. `tools/deno task bench linear [-- --only TEXT]`
 * runs the cases whose names contain the text.
 */
import { parseArgs } from "node:util";
import { CASES } from "./cases.ts";
import type { LinearCase } from "./case.ts";
import type { Cost } from "./linear_case.ts";
import { print } from "../measure.ts";

/** The limit for the ratio, between n log n with noise and n to the power of 1.5. */
const LIMIT = 7;
/** Shorter times count as this many milliseconds, because ratios of very short runs are not meaningful. */
const LEAST = 25;
const DEADLINE = 300_000;

const CASE = decodeURIComponent(new URL("linear_case.ts", import.meta.url).pathname);

async function main(): Promise<number> {
  const { values } = parseArgs({ args: Deno.args, options: { only: { type: "string", default: "" } } });
  const cases = CASES.filter(({ name }) => name.includes(values.only));
  const width = Math.max(...cases.map(({ name }) => name.length));
  const row = ([name = "", ...cells]: readonly string[]) =>
    print(`| ${name.padEnd(width)} | ${cells.map((each) => each.padStart(7)).join(" | ")} |\n`);
  row(["input", "largest", "n ms", "2n ms", "4n ms", "ratio", "n MB", "2n MB", "4n MB", "verdict"]);
  print(`|---${"|--:".repeat(8)}|---|\n`);
  const bad: string[] = [];
  for (const each of cases) {
    const costs = await costsOf(each);
    const verdict = verdictOf(costs);
    const [least, , most] = costs;
    const ratio = most === undefined || least === undefined ? "" : (most.milliseconds / least.milliseconds).toFixed(1);
    row([
      each.name,
      sizeText(most?.length ?? 0),
      ...costs.map((cost) => cost?.milliseconds.toFixed(0) ?? "?"),
      ratio,
      ...costs.map((cost) => cost?.megabytes.toFixed(0) ?? "?"),
      verdict,
    ]);
    if (!["linear", "short"].includes(verdict)) bad.push(each.name);
  }
  print(`\n${cases.length - bad.length} of ${cases.length} are linear\n`);
  return bad.length > 0 ? 1 : 0;
}

type Costs = readonly (Cost | undefined)[];

async function costsOf({ name, size }: LinearCase): Promise<Costs> {
  const costs: (Cost | undefined)[] = [];
  for (const factor of [1, 2, 4]) {
    const previous = costs.at(-1);
    // If one size takes too long, larger sizes are skipped.
    costs.push(factor > 1 && previous === undefined ? undefined : await costOf(name, size * factor));
  }
  return costs;
}

/** Returns the cost of a run; `undefined` if it takes too long. Throws if the run fails. */
async function costOf(name: string, size: number): Promise<Cost | undefined> {
  const signal = AbortSignal.timeout(DEADLINE);
  const command = new Deno.Command(Deno.execPath(), {
    args: ["run", "--quiet", "--allow-all", "--no-check", CASE, name, String(size)],
    stdin: "null",
    stderr: "inherit",
    signal,
  });
  const { success, stdout } = await command.output();
  if (success) return JSON.parse(new TextDecoder().decode(stdout));
  if (signal.aborted) return undefined;
  print(`"${name}" of ${size} fails\n`);
  return undefined;
}

function verdictOf([least, , most]: Costs): string {
  if (least === undefined || most === undefined) return `longer than ${DEADLINE / 1000} s`;
  if (most.milliseconds / Math.max(LEAST, least.milliseconds) > LIMIT) return "NOT LINEAR";
  if (most.megabytes > 200 && most.megabytes / least.megabytes > LIMIT) return "NOT LINEAR in memory";
  return most.milliseconds < LEAST ? "short" : "linear";
}

function sizeText(length: number): string {
  return length < 1e6 ? `${(length / 1e3).toFixed(0)} kB` : `${(length / 1e6).toFixed(1)} MB`;
}

Deno.exit(await main());
