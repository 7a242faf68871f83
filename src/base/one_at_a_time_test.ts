import assert from "node:assert/strict";
import { oneAtATime } from "./one_at_a_time.ts";

Deno.test("oneAtATime() joins calls during a run into one more run, which they wait for", async () => {
  const runs: (() => void)[] = [];
  const call = oneAtATime(() => new Promise((resolve) => runs.push(resolve)));
  let isDone = false;
  const all = Promise.all([call(), call(), call()]).then(() => isDone = true);
  runs[0]?.();
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.deepEqual([runs.length, isDone], [2, false]);
  runs[1]?.();
  await all;
  assert.equal(runs.length, 2);
  const later = call();
  runs[2]?.();
  await later;
});
