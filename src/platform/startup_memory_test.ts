import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { startupMemory } from "./startup_memory.ts";

/** Counts releases with a clock that does not wait. */
async function releases(release: () => void, signal: AbortSignal): Promise<number> {
  const { clock, system } = fakeWorld();
  let count = 0;
  const memoryReleaser = () => () => {
    count++;
    release();
  };
  const world = { clock: { ...clock, sleep: () => Promise.resolve() }, system: { ...system, memoryReleaser } };
  await startupMemory(world)(signal);
  return count;
}

Deno.test("startupMemory() releases memory twice, also if the system refuses", async () => {
  const { signal } = new AbortController();
  assert.equal(await releases(() => {}, signal), 2);
  const refuse = () => {
    throw new Error("madvise: operation not permitted");
  };
  assert.equal(await releases(refuse, signal), 2);
});

Deno.test("startupMemory() does nothing after the end, and where a process may not release memory", async () => {
  assert.equal(await releases(() => {}, AbortSignal.abort()), 0);
  await startupMemory(fakeWorld())(AbortSignal.abort());
});
