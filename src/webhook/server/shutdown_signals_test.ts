import assert from "node:assert/strict";
import { fakeWorld } from "../../core/world/mod.ts";
import { endings } from "./shutdown_signals.ts";

Deno.test("the first signal is told, the second hurries with the code of its signal", async () => {
  const world = fakeWorld();
  const { first, second, hurry } = endings(world);
  world.raise("SIGINT");
  assert.equal(await first, "SIGINT");
  assert.equal(hurry.aborted, false);
  world.raise("SIGTERM");
  assert.deepEqual([await second, hurry.aborted], [143, true]);
});

Deno.test("after stop() signals are not heard", () => {
  const world = fakeWorld();
  const { hurry, stop } = endings(world);
  world.raise("SIGTERM");
  stop();
  world.raise("SIGTERM");
  assert.equal(hurry.aborted, false);
});
