import assert from "node:assert/strict";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { runAgentBootstrap } from "./print.ts";

Deno.test("runAgentBootstrap: bootstrap on stdout, warnings on stderr, no file written", async () => {
  const world = fakeWorld({ env: { INSTANCE_IP: "10.0.0.5", ENVOY_STATUS_PORT: "x" } });
  assert.equal(await runAgentBootstrap(world, ["router"]), 0);
  assert.match(JSON.parse(world.said.stdout).node.id, /^router~10\.0\.0\.5~/);
  assert.match(world.said.stderr, /^warning: "ENVOY_STATUS_PORT" cannot be "x"/);
  assert.equal(world.content.size, 0);
});

Deno.test("runAgentBootstrap: a custom file is printed as is", async () => {
  const env = { PROXY_CONFIG: "customConfigFile: mine.yaml" };
  const world = fakeWorld({ env, files: { "mine.yaml": "node: {}\n" } });
  await runAgentBootstrap(world, []);
  assert.equal(world.said.stdout, "node: {}\n");
});

Deno.test("runAgentBootstrap: invalid settings print nothing", async () => {
  const world = fakeWorld({ env: { PROXY_CONFIG: "drainDuration: 0s" } });
  await assert.rejects(runAgentBootstrap(world, []), /"drainDuration" must be a whole number of seconds/);
  assert.equal(world.said.stdout, "");
});
