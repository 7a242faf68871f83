import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { releaseStartupMemory, startupMemoryReleaser } from "./startup_memory.ts";

/** Counts releases with a clock that does not wait. */
async function releases(release: () => void, signal: AbortSignal): Promise<number> {
  const { clock } = fakeWorld();
  let count = 0;
  const counted = () => {
    count++;
    release();
  };
  await releaseStartupMemory({ ...clock, sleep: () => Promise.resolve() }, counted, signal);
  return count;
}

Deno.test("releaseStartupMemory() releases memory twice, also if the system refuses", async () => {
  const { signal } = new AbortController();
  assert.equal(await releases(() => {}, signal), 2);
  const refuse = () => {
    throw new Error("madvise: operation not permitted");
  };
  assert.equal(await releases(refuse, signal), 2);
});

Deno.test("releaseStartupMemory() does nothing after the end", async () => {
  assert.equal(await releases(() => {}, AbortSignal.abort()), 0);
});

Deno.test("startupMemoryReleaser() is undefined where a process may not release memory", () => {
  assert.equal(startupMemoryReleaser(fakeWorld().system), undefined);
});
