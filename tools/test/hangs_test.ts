import assert from "node:assert/strict";
import { watchOutput } from "./hangs.ts";

async function run(...pieces: readonly string[]) {
  const written: string[] = [];
  const names: string[] = [];
  const output = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
  await watchOutput(output, (text) => written.push(text), { hangs: (name) => void names.push(name), minutes: 8 });
  assert.deepEqual(written, pieces);
  return names;
}

Deno.test("watchOutput() names a test that hangs, not one that is slow", async () => {
  const four = "two ...'two' has been running for over (4m0s)\n";
  const eight = "'two' has been running for over (8m0s)\n";
  assert.deepEqual(await run("one ... ok\n", four), []);
  assert.deepEqual(await run(four, eight, "three ...", " ok\n"), ["two"]);
  assert.deepEqual(await run("'two: a' has been run", "ning for over (8m0s)\n", "'b' has\n"), ["two: a"]);
  assert.deepEqual(await run(four, "  a step ... ok (1s)\n", eight), []);
  assert.deepEqual(await run("  a step ... ok (1s)\n", eight, "'two' has been running for over (16m0s)\n"), ["two"]);
});
