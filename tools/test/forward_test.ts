import assert from "node:assert/strict";
import { forward } from "./forward.ts";

async function run(...pieces: readonly string[]) {
  const written: string[] = [];
  const names: string[] = [];
  const output = ReadableStream.from(pieces.map((piece) => new TextEncoder().encode(piece)));
  await forward(output, (bytes) => written.push(new TextDecoder().decode(bytes)), (name) => names.push(name));
  assert.deepEqual(written, pieces);
  return names;
}

Deno.test("a slow test may go on, one that hangs is named", async () => {
  assert.deepEqual(await run("one ... ok\n", "two ...'two' has been running for over (4m0s)\n"), []);
  assert.deepEqual(await run("two ...'two' has been running for over (8m0s)\nthree ...", " ok\n"), ["two"]);
  assert.deepEqual(await run("'two: a' has been run", "ning for over (8m0s)\n", "'b' has\n"), ["two: a"]);
});
