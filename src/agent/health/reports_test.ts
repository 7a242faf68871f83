import { getLogger } from "@logtape/logtape";
import assert from "node:assert/strict";
import { ManualClock } from "../../../test/support/manual_clock.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import type { HealthOptions } from "./options.ts";
import { startHealth, thresholds } from "./reports.ts";

const log = getLogger(["test", "healthcheck"]);

/** Health by a program whose exit code a test sets. */
function started(given: Partial<HealthOptions> = {}, envoy?: string) {
  const state = { code: 0, runs: 0, envoy };
  const clock = new ManualClock(0);
  const world = {
    ...fakeWorld({
      spawn: () => {
        state.runs++;
        const ended = Promise.resolve({ code: state.code, signal: undefined });
        return { pid: 1, ended, errorOutput: undefined, signal: () => false };
      },
    }),
    clock,
  };
  const health = startHealth(world, {
    check: { kind: "exec", command: ["check"] },
    initialDelaySeconds: 0,
    timeoutSeconds: 1,
    periodSeconds: 10,
    successThreshold: 1,
    failureThreshold: 1,
    envoyProblem: () => Promise.resolve(state.envoy),
    log,
    ...given,
  });
  return { state, clock, health };
}

Deno.test("startHealth() checks after the initial delay, then once per period", async () => {
  const { state, clock, health } = started({ initialDelaySeconds: 5 });
  await clock.pass(4999);
  assert.deepEqual([state.runs, health.current()], [0, undefined]);
  await clock.pass(1);
  assert.deepEqual([state.runs, health.current()], [1, { problem: undefined }]);
  await clock.pass(30_000);
  assert.equal(state.runs, 4);
  assert.equal(clock.waiting.count, 1);
  await health.close();
  await clock.pass(30_000);
  assert.equal(state.runs, 4);
});

Deno.test("startHealth() checks Envoy first: if it is not ready the application is not checked", async () => {
  const { state, clock, health } = started({}, "workers have not yet started");
  await clock.pass(0);
  assert.deepEqual([state.runs, health.current()], [0, { problem: "workers have not yet started" }]);
  state.envoy = undefined;
  await clock.pass(10_000);
  assert.deepEqual([state.runs, health.current()], [1, { problem: undefined }]);
  await health.close();
});

Deno.test("startHealth() notifies about changes only, until unsubscribed", async () => {
  const { state, clock, health } = started({ failureThreshold: 2 });
  const seen: unknown[] = [];
  const unsubscribe = health.subscribe(() => seen.push(health.current()?.problem));
  await clock.pass(10_000);
  state.code = 3;
  await clock.pass(10_000);
  assert.deepEqual(seen, [undefined]);
  await clock.pass(20_000);
  assert.deepEqual(seen, [undefined, '"check" exited with code 3']);
  unsubscribe();
  state.code = 0;
  await clock.pass(10_000);
  assert.equal(seen.length, 2);
  assert.equal(health.current()?.problem, undefined);
  await health.close();
});

/** Results (`+` well, `-` not), and what is reported of each (`.`: nothing). */
const CASES = [
  { success: 1, failure: 1, results: "++-+--+", reports: "+.-+-.+" },
  { success: 1, failure: 1, results: "--+", reports: "-.+" },
  { success: 2, failure: 1, results: "+-++-+", reports: ".-.+-." },
  { success: 1, failure: 3, results: "--+--+---+", reports: "..+.....-+" },
  { success: 2, failure: 2, results: "+-+-++--", reports: ".....+.-" },
  { success: 3, failure: 3, results: "+++++---", reports: "..+....-" },
] as const;

Deno.test("thresholds() reports a change after consecutive equal results", () => {
  for (const { success, failure, results, reports } of CASES) {
    const report = thresholds({ successThreshold: success, failureThreshold: failure });
    const made = [...results].map((result, index) => {
      const made = report(result === "+" ? undefined : `failure ${index}`);
      if (made === undefined) return ".";
      if (made.problem !== undefined) assert.equal(made.problem, `failure ${index}`);
      return made.problem === undefined ? "+" : "-";
    });
    assert.equal(made.join(""), reports, JSON.stringify({ success, failure, results }));
  }
});
