import assert from "node:assert/strict";
import { atOnce } from "./at_once.ts";

Deno.test("results have the order of the items, and no more than so many run at a time", async () => {
  const open = new Map<number, () => void>();
  let most = 0;
  const results = atOnce([0, 1, 2, 3, 4], 2, async (item) => {
    const { promise, resolve } = Promise.withResolvers<void>();
    open.set(item, resolve);
    most = Math.max(most, open.size);
    await promise;
    open.delete(item);
    return item * 10;
  });
  // Of two running items, the later item ends first.
  while (open.size > 0) {
    [...open.values()].at(-1)?.();
    await new Promise((resolve) => setTimeout(resolve));
  }
  assert.deepEqual(await results, [0, 10, 20, 30, 40]);
  assert.equal(most, 2);
  assert.deepEqual(await atOnce([], 8, () => 1), []);
});

Deno.test("after an error no further work begins", async () => {
  const begun: number[] = [];
  const work = (item: number) => {
    begun.push(item);
    throw new Error("it fails");
  };
  await assert.rejects(atOnce([1, 2, 3], 1, work), /it fails/);
  assert.deepEqual(begun, [1]);
});
