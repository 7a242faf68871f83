import assert from "node:assert/strict";
import { fakeWorld } from "../platform/fake.ts";
import { startupMemory } from "./release_memory.ts";

/** Counts releases of a world whose clock does not wait. */
async function releases(release: () => void, signal: AbortSignal): Promise<number> {
  const { system, clock } = fakeWorld();
  let count = 0;
  const memoryReleaser = () => () => {
    count++;
    release();
  };
  await startupMemory({ system: { ...system, memoryReleaser }, clock: { ...clock, sleep: () => Promise.resolve() } })(
    signal,
  );
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

Deno.test("startupMemory() does nothing after the end, or where there is no such call", async () => {
  assert.equal(await releases(() => {}, AbortSignal.abort()), 0);
  const { system, clock } = fakeWorld();
  await startupMemory({ system, clock })(new AbortController().signal);
});
