import assert from "node:assert/strict";
import { ManualClock } from "../../../test/support/manual_clock.ts";
import { fakeWorld } from "../../platform/mod.ts";
import { manifestProgress } from "./progress.ts";

const INPUT = { file: "a.yaml", chunks: async function* () {} };

function started(options: Parameters<typeof fakeWorld>[0], isOn = true) {
  const clock = new ManualClock(0);
  const world = fakeWorld(options);
  const progress = manifestProgress({ ...world, clock }, isOn);
  for (const { chunks } of progress.watched([INPUT])) chunks();
  const done = (document: number) => progress.done({ file: "a.yaml", document });
  return { clock, said: () => world.said.stderr, progress, done };
}

Deno.test("the line is shown after a second, at most ten times a second, and removed at the end", async () => {
  const { clock, said, progress, done } = started({ terminal: true });
  done(1);
  assert.equal(said(), "");
  await clock.pass(1_000);
  assert.equal(said(), "\r\x1b[K1 document done, a.yaml");
  done(2);
  assert.equal(said(), "\r\x1b[K1 document done, a.yaml");
  await clock.pass(100);
  done(2);
  done(3);
  assert(said().endsWith("\r\x1b[K2 documents done, a.yaml"));
  progress.end();
  assert(said().endsWith("a.yaml\r\x1b[K"));
  const before = said();
  progress.end();
  await clock.pass(5_000);
  done(4);
  assert.equal(said(), before);
});

Deno.test("a line that is hidden comes back with the next document", async () => {
  const { clock, said, progress, done } = started({ terminal: true });
  await clock.pass(1_000);
  progress.hide();
  assert(said().endsWith("\r\x1b[K"));
  await clock.pass(100);
  done(1);
  assert(said().endsWith("1 document done, a.yaml"));
  progress.end();
});

Deno.test("no line on a pipe, with plain output, or where it is off", async () => {
  const cases = [[{}, true], [{ terminal: true, env: { NO_COLOR: "1" } }, true], [{ terminal: true }, false]] as const;
  for (const [options, isOn] of cases) {
    const { clock, said, progress, done } = started(options, isOn);
    await clock.pass(2_000);
    done(1);
    progress.end();
    assert.equal(said(), "");
  }
});
