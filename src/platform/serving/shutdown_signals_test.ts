import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { shutdownSignals } from "./shutdown_signals.ts";

Deno.test("the first signal starts the shutdown, the second one gives the exit code", async () => {
  const world = fakeWorld();
  const { first, second, hurry } = shutdownSignals(world);
  world.raise("SIGINT");
  assert.equal(await first, "SIGINT");
  assert.equal(hurry.aborted, false);
  world.raise("SIGTERM");
  assert.deepEqual([await second, hurry.aborted], [143, true]);
});

Deno.test("SIGHUP is a first signal too", async () => {
  const world = fakeWorld();
  const { first } = shutdownSignals(world);
  world.raise("SIGHUP");
  assert.equal(await first, "SIGHUP");
});

Deno.test("after stop() signals are ignored", () => {
  const world = fakeWorld();
  const { hurry, stop } = shutdownSignals(world);
  world.raise("SIGTERM");
  stop();
  world.raise("SIGTERM");
  assert.equal(hurry.aborted, false);
});
