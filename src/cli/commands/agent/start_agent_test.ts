import assert from "node:assert/strict";
import { UsageError } from "../../../base/errors.ts";
import { fakeWorld } from "../../../../test/support/fake_world.ts";
import { startAgent } from "./start_agent.ts";

const WRONG = ["--concurrency", "x", "--no-such-flag"];

Deno.test("startAgent(): a signal counts before anything is loaded or read", async () => {
  const world = fakeWorld();
  const code = startAgent(world, WRONG, "agent", () => 2);
  world.raise("SIGTERM");
  assert.equal(await code, 143);
  assert.match(world.said.stderr, /info agent: SIGTERM: the agent exits before starting Envoy\n/);
});

Deno.test("startAgent(): an error is thrown, or a line of JSON if the log is JSON", async () => {
  await assert.rejects(startAgent(fakeWorld(), WRONG, "agent", () => 2), UsageError);
  const world = fakeWorld();
  assert.equal(await startAgent(world, [...WRONG, "--log_as_json"], "agent", ({ exitCode }) => exitCode), 2);
  const { level, logger, message } = JSON.parse(world.said.stderr);
  assert.deepEqual([level, logger], ["FATAL", "agent"]);
  assert.match(
    message,
    /^The flag --concurrency cannot be "x": .*; Unknown flag "--no-such-flag"; "kubectl mesh agent/,
  );
});
