import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import type { World } from "../platform/mod.ts";
import { pauseAfter, poll } from "./poll.ts";

const LIMITS = { timeout: 60_000, period: 100, requestTimeout: 500 };
const NEVER = new AbortController().signal;

/** A world that answers by URL and time, and records the time of each request. */
function timedWorld(answer: (url: string, at: number) => number) {
  const asked: [url: string, at: number][] = [];
  const world: World = fakeWorld({
    request(url) {
      const at = world.clock.monotonic();
      asked.push([url, at]);
      const status = answer(url, at);
      if (status === 0) throw new TypeError("tcp connect error: Connection refused (os error 111)");
      return new Response(null, { status });
    },
  });
  return { world, asked };
}

const silent = () => Promise.resolve();

Deno.test("poll() sends the first request at once, and a ready URL costs no pause", async () => {
  const { world, asked } = timedWorld(() => 200);
  assert.deepEqual(await poll(world, { ...LIMITS, urls: ["http://a"] }, silent, NEVER), {
    waited: 0,
    unready: new Map(),
  });
  assert.deepEqual(asked, [["http://a", 0]]);
});

Deno.test("poll() sends a request every 50 ms for 5 s, then with longer pauses up to the period", async () => {
  const { world, asked } = timedWorld((_url, at) => at < 20_000 ? 503 : 200);
  await poll(world, { ...LIMITS, urls: ["http://a"] }, silent, NEVER);
  const times = asked.map(([, at]) => at);
  assert.deepEqual(times.slice(0, 4), [0, 50, 100, 150]);
  const pauses = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  assert.ok(pauses.every((pause, index) => pause >= (pauses[index - 1] ?? 0)));
  assert.equal(pauses.filter((pause) => pause === 50).length, 101);
  assert.equal(Math.max(...pauses), 100);
});

Deno.test("pauseAfter() is at most the period", () => {
  assert.deepEqual([0, 4_999, 6_000, 99_999].map((waited) => pauseAfter(waited, 500)), [50, 50, 60, 500]);
  assert.deepEqual([0, 99_999].map((waited) => pauseAfter(waited, 10)), [10, 10]);
});

Deno.test("poll() sends requests only to unready URLs, and ends when each was ready", async () => {
  const { world, asked } = timedWorld((url, at) => url === "http://a" && at < 100 ? 0 : 200);
  const { unready } = await poll(world, { ...LIMITS, urls: ["http://a", "http://b"] }, silent, NEVER);
  assert.equal(unready.size, 0);
  assert.deepEqual(asked, [["http://a", 0], ["http://b", 0], ["http://a", 50], ["http://a", 100]]);
});

Deno.test("poll() ends at the timeout with a last request, and returns its result", async () => {
  const { world, asked } = timedWorld((_url, at) => at < 60 ? 0 : 503);
  const seen: string[] = [];
  const report = (unready: ReadonlyMap<string, { seen: string }>) => {
    seen.push([...unready.values()].map((each) => each.seen).join());
    return Promise.resolve();
  };
  const outcome = await poll(world, { ...LIMITS, timeout: 120, urls: ["http://a"] }, report, NEVER);
  assert.deepEqual(asked.map(([, at]) => at), [0, 50, 100, 120]);
  assert.deepEqual(seen, ["connection refused", "connection refused", "answered 503"]);
  assert.deepEqual(outcome, {
    waited: 120,
    unready: new Map([["http://a", { stage: "unready", seen: "answered 503" }]]),
  });
});

Deno.test("poll() with a timeout of 0 sends one request", async () => {
  const { world, asked } = timedWorld(() => 204);
  const { unready } = await poll(world, { ...LIMITS, timeout: 0, urls: ["http://a"] }, silent, NEVER);
  assert.deepEqual([...unready.values()], [{ stage: "other-status", seen: "answered 204" }]);
  assert.equal(asked.length, 1);
});

Deno.test("poll() aborts a request without a response", async () => {
  const world = fakeWorld({
    request: (_url, init) =>
      new Promise((_resolve, reject) => init?.signal?.addEventListener("abort", () => reject(init.signal?.reason))),
  });
  const { unready } = await poll(
    world,
    { ...LIMITS, timeout: 0, requestTimeout: 5, urls: ["http://a"] },
    silent,
    NEVER,
  );
  assert.deepEqual([...unready.values()], [{ stage: "silent", seen: "no answer within 5ms" }]);
});

Deno.test("a signal stops poll()", async () => {
  const controller = new AbortController();
  const { world, asked } = timedWorld(() => 503);
  const report = () => Promise.resolve(controller.abort());
  await poll(world, { ...LIMITS, urls: ["http://a"] }, report, controller.signal);
  assert.equal(asked.length, 2);
});
