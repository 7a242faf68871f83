import assert from "node:assert/strict";
import { ManualClock } from "../../../test/support/manual_clock.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { manifestProgress } from "./progress.ts";

const inputs = ["a.yaml", "b.yaml"].map((file) => ({ file, chunks: async function* () {} }));

function started(isShown: boolean) {
  const clock = new ManualClock(0);
  const world = fakeWorld({ terminal: true });
  const progress = manifestProgress({ ...world, clock }, isShown);
  return { clock, said: () => world.said.stderr, progress };
}

Deno.test("documents are counted once, with the file and its number", async () => {
  const { clock, said, progress } = started(true);
  const [first, second] = progress.watched(inputs);
  first?.chunks();
  for (const document of [1, 2, 2, 3]) progress.done({ file: "a.yaml", document });
  await clock.pass(1_000);
  assert(said().endsWith("3 documents, 1s: file 1 of 2, a.yaml"), said());
  await clock.pass(100);
  second?.chunks();
  assert(said().endsWith("3 documents, 1s: file 2 of 2, b.yaml"), said());
  assert.equal(progress.soFar(), "3 documents were read");
  progress.end();
});

Deno.test("no progress line if it is turned off", async () => {
  const { clock, said, progress } = started(false);
  progress.done({ file: "a.yaml", document: 1 });
  await clock.pass(2_000);
  progress.end();
  assert.equal(said(), "");
});
