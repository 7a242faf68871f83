import assert from "node:assert/strict";
import { realWorld } from "../../platform/mod.ts";
import { timersOf } from "./timers.ts";

Deno.test("setting a timer replaces the last one; cleared timers never fire", async () => {
  const timers = timersOf<"a" | "b">(realWorld().clock);
  const up: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.set("a", 5, () => up.push("a, first"));
  timers.set("a", 5, () => up.push("a"));
  timers.set("b", 20, () => (up.push("b"), resolve()));
  await promise;
  assert.deepEqual(up, ["a", "b"]);
  timers.set("a", 1, () => up.push("forgotten"));
  timers.clear();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.deepEqual(up, ["a", "b"]);
});
