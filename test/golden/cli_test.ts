/** Whole commands: each folder of `cli` is a case (`test/support/cases/golden.ts`). UPDATE=1 rewrites the expected files. */
import assert from "node:assert/strict";
import { atOnce } from "../../src/base/at_once.ts";
import { expectedOutcome, isProcess, type Outcome, runCase, writeExpected } from "../support/cases/golden.ts";

const FOLDER = decodeURIComponent(new URL("./cli/", import.meta.url).pathname);
const COMMON = `${FOLDER}common`;

/** Processes at a time. */
const AT_ONCE = 3;

// The program keeps an output that it collects in a file without a name as long as it runs.
const KEPT = { sanitizeResources: false };

Deno.test("whole commands print and write the expected texts", KEPT, async (t) => {
  const folders = await Array.fromAsync(Deno.readDir(FOLDER), ({ name }) => name);
  const names = folders.filter((name) => name !== "common").sort();
  const outcomes = await runAll(names);
  for (const name of names) await t.step(name, () => compare(name, outcomes.get(name)));
});

async function runAll(names: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
  const run = async (name: string) => [name, await runCase(`${FOLDER}${name}`, COMMON)] as const;
  const processes = await Array.fromAsync(names, (name) => isProcess(`${FOLDER}${name}`));
  const [others, started] = [false, true].map((kind) => names.filter((_, index) => processes[index] === kind));
  // There is one working folder.
  const outcomes = await Promise.all([atOnce(others ?? [], 1, run), atOnce(started ?? [], AT_ONCE, run)]);
  return new Map(outcomes.flat());
}

async function compare(name: string, outcome: Outcome | undefined): Promise<void> {
  assert.ok(outcome !== undefined);
  if (Deno.env.get("UPDATE") === "1") await writeExpected(`${FOLDER}${name}`, outcome);
  assert.deepEqual(outcome, await expectedOutcome(`${FOLDER}${name}`));
}
