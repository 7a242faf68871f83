/** Whole commands: each folder of `cli` is a case (`test/support/cases/golden.ts`). UPDATE=1 rewrites the expected files. */
import assert from "node:assert/strict";
import { atOnce } from "../../src/core/at_once.ts";
import { expectedOutcome, type Outcome, runCase, writeExpected } from "../support/cases/golden.ts";

const FOLDER = decodeURIComponent(new URL("./cli/", import.meta.url).pathname);
const COMMON = `${FOLDER}common`;

/** Processes at a time. */
const AT_ONCE = 3;

Deno.test("whole commands print and write the expected texts", async (t) => {
  const folders = await Array.fromAsync(Deno.readDir(FOLDER), ({ name }) => name);
  const names = folders.filter((name) => name !== "common").sort();
  const outcomes = await runAll(names);
  for (const name of names) await t.step(name, () => compare(name, outcomes.get(name)));
});

async function runAll(names: readonly string[]): Promise<ReadonlyMap<string, Outcome>> {
  return new Map(
    await atOnce(names, AT_ONCE, async (name) => [name, await runCase(`${FOLDER}${name}`, COMMON)] as const),
  );
}

async function compare(name: string, outcome: Outcome | undefined): Promise<void> {
  assert.ok(outcome !== undefined);
  if (Deno.env.get("UPDATE") === "1") await writeExpected(`${FOLDER}${name}`, outcome);
  assert.deepEqual(outcome, await expectedOutcome(`${FOLDER}${name}`));
}
