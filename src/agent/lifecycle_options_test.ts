import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { lifecycleRules } from "./lifecycle_options.ts";
import { readSettings } from "./settings/read.ts";

async function longest(env: Record<string, string>): Promise<number> {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ...env } });
  return lifecycleRules(await readSettings(world, [], { name: "agent" })).drain.maximum;
}

Deno.test("lifecycleRules(): the maximum drain time: explicit limit, explicit terminationDrainDuration, an hour", async () => {
  const PROXY_CONFIG = "terminationDrainDuration: 5s";
  assert.equal(await longest({}), 3_600_000);
  assert.equal(await longest({ PROXY_CONFIG, MINIMUM_DRAIN_DURATION: "1s" }), 5000);
  assert.equal(await longest({ PROXY_CONFIG, MAXIMUM_DRAIN_DURATION: "7s" }), 7000);
  assert.equal(await longest({ MINIMUM_DRAIN_DURATION: "8s", MAXIMUM_DRAIN_DURATION: "7s" }), 8000);
});
