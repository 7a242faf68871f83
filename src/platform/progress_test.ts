import assert from "node:assert/strict";
import { ManualClock } from "../../test/support/manual_clock.ts";
import { EXIT, MeshError } from "../base/errors.ts";
import { fakeWorld, type FakeWorldOptions } from "../../test/support/fake_world.ts";
import { interruption, startProgress, withProgress, withSoFar } from "./progress.ts";
import { isDumb, isPlain } from "./terminal.ts";

const PODS = { one: "pod", verb: "read" };
const CLEARED = "\r\x1b[K";

function started(options: FakeWorldOptions) {
  const clock = new ManualClock(0);
  const world = fakeWorld(options);
  const progress = startProgress({ ...world, clock }, PODS);
  return { clock, progress, world, said: () => world.said.stderr };
}

Deno.test("the line appears on standard error after a second, with finished items, total and duration", async () => {
  const { clock, progress, world, said } = started({ terminal: true });
  progress.at(1, 20);
  progress.now("shop/web-1");
  assert.equal(said(), "");
  await clock.pass(1_000);
  assert.equal(said(), `${CLEARED}1 of 20 pods, 1s: shop/web-1`);
  progress.at(2, 20);
  assert.equal(said(), `${CLEARED}1 of 20 pods, 1s: shop/web-1`, "at most ten updates in a second");
  await clock.pass(100);
  progress.now("");
  assert(said().endsWith(`${CLEARED}2 of 20 pods, 1s`));
  await clock.pass(60_900);
  assert(said().endsWith(`${CLEARED}2 of 20 pods, 1m 2s`), "the time goes on without news");
  progress.hide();
  assert(said().endsWith(`1m 2s${CLEARED}`));
  await clock.pass(1_000);
  assert(said().endsWith("1m 3s"), "a hidden line returns");
  progress.end();
  const before = said();
  progress.end();
  progress.at(3);
  await clock.pass(5_000);
  assert.equal(said(), before);
  assert.equal(world.said.stdout, "");
});

Deno.test("a line that is wider than the terminal is cut, and cannot control it", async () => {
  const { clock, progress, said } = started({ terminal: true });
  progress.now(`\x1b[2J${"x".repeat(200)}`);
  await clock.pass(1_000);
  assert.equal(said(), `${CLEARED}${`0 pods, 1s: \\u001b[2J${"x".repeat(200)}`.slice(0, 79)}`);
});

Deno.test("no line in a pipe, with NO_COLOR, or on a dumb terminal", async () => {
  const plain = [{}, { terminal: true, env: { NO_COLOR: "1" } }, { terminal: true, env: { TERM: "dumb" } }];
  for (const options of plain) {
    const { clock, progress, said } = started(options);
    progress.at(1);
    await clock.pass(2_000);
    progress.end();
    assert.equal(said(), "");
    assert(isPlain(fakeWorld(options)));
  }
  assert(!isPlain(fakeWorld({ terminal: true, env: { NO_COLOR: "" } })));
});

Deno.test("TERM=dumb means ASCII on a terminal, not in a file", () => {
  assert(isDumb(fakeWorld({ terminal: true, env: { TERM: "dumb" } })));
  assert(!isDumb(fakeWorld({ terminal: true, env: { TERM: "xterm" } })));
  assert(!isDumb(fakeWorld({ env: { TERM: "dumb" } })));
});

Deno.test("a signal rejects with the finished items; without a signal, the result is returned", async () => {
  const world = fakeWorld();
  assert.equal(await withProgress(world, PODS, () => Promise.resolve(7)), 7);
  for (const [signal, code] of [["SIGINT", EXIT.interrupted], ["SIGTERM", EXIT.terminated]] as const) {
    const running = withProgress(world, PODS, (progress) => {
      progress.at(1, 20);
      world.raise(signal);
      return new Promise<never>(() => {});
    });
    await assert.rejects(running, (error) => {
      assert(error instanceof MeshError);
      assert.equal(error.message, "Interrupted: 1 of 20 pods were read");
      assert.equal(error.exitCode, code);
      return true;
    });
  }
});

Deno.test("withSoFar() appends the finished items to another interruption", async () => {
  const world = fakeWorld();
  const signals = interruption(world, () => "Interrupted: nothing is written");
  const stopped = withSoFar(signals.promise, { soFar: () => "3 pods were read" });
  world.raise("SIGINT");
  await assert.rejects(stopped, { message: "Interrupted: nothing is written; 3 pods were read", exitCode: 130 });
  signals.off();
});
