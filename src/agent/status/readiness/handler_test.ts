import assert from "node:assert/strict";
import { startLog } from "../../../platform/log.ts";
import { meter } from "../../../base/metrics/mod.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { readyHandler } from "./handler.ts";
import type { StageReport } from "./probe.ts";

Deno.test("wasReady() is unknown before the first answer, and stays true after a success", async () => {
  const world = fakeWorld();
  let report: StageReport = { stage: "running", problem: "server is terminated" };
  const ready = readyHandler({
    probe: { check: () => Promise.resolve([report]), forget: () => {} },
    logger: startLog(world, "agent"),
    startupSeconds: meter("gauge", "startup", "help"),
    clock: world.clock,
  });
  const ask = async (next: StageReport) => {
    report = next;
    const { status } = await ready.answer(new Request("http://localhost/healthz/ready"));
    return [status, ready.wasReady()];
  };
  assert.equal(ready.wasReady(), undefined);
  assert.deepEqual(await ask(report), [503, undefined], "the end says nothing about the time before");
  assert.deepEqual(await ask({ stage: "config", problem: "no listeners" }), [503, false]);
  assert.deepEqual(await ask({ stage: "config", problem: undefined }), [200, true]);
  assert.deepEqual(await ask({ stage: "config", problem: "no listeners" }), [503, true]);
});
