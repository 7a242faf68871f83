import assert from "node:assert/strict";
import { startLog } from "./log.ts";
import { fakeWorld } from "../../test/support/fake_world.ts";

Deno.test("startLog() writes a line of text for each record to stderr", () => {
  const world = fakeWorld();
  const log = startLog(world, "iptables");
  log.info("Using {backend} because {evidence}", { backend: "nft", evidence: "it holds rules" });
  log.debug("not shown");
  assert.equal(world.said.stderr, "2026-01-02T03:04:05.000Z info iptables: Using nft because it holds rules\n");
  assert.equal(world.said.stdout, "");
});

Deno.test("startLog() writes JSON and takes level and format from the environment", () => {
  const world = fakeWorld({ env: { MESH_LOG_FORMAT: "json", MESH_LOG_LEVEL: "warn" } });
  const log = startLog(world, "iptables");
  log.info("not shown");
  log.warn("Held {by}", { by: 7 });
  const record = JSON.parse(world.said.stderr);
  assert.deepEqual([record.level, record.message, record.logger, record.properties], ["WARN", "Held 7", "iptables", {
    by: 7,
  }]);
});

Deno.test("startLog() treats an empty variable as unset", () => {
  const world = fakeWorld({ env: { MESH_LOG_FORMAT: "", MESH_LOG_LEVEL: "" } });
  startLog(world, "iptables").info("shown");
  assert.equal(world.said.stderr, "2026-01-02T03:04:05.000Z info iptables: shown\n");
});

Deno.test("startLog() refuses an unknown format or level", () => {
  for (const format of ["xml", "constructor"]) {
    assert.throws(() => startLog(fakeWorld(), "x", { format }), new RegExp(`Unknown log format "${format}"`));
  }
  assert.throws(() => startLog(fakeWorld(), "x", { level: "loud" }), /Unknown log level "loud"/);
});
