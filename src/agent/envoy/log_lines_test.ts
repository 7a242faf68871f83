import assert from "node:assert/strict";
import { startLog } from "../../platform/log.ts";
import { fakeWorld } from "../../../test/support/fake_world.ts";
import { envoyLines } from "./log_lines.ts";

const PREFIX = "[2026-11-21 23:45:14.477][14]";

/** What comes of the lines: level and text. */
function logged(...lines: string[]) {
  const world = fakeWorld();
  const write = envoyLines(world, startLog(world, "agent", { format: "json", level: "debug" }));
  lines.forEach(write);
  return world.said.stderr.trimEnd().split("\n").map((line) => {
    const { level, message, msg } = JSON.parse(line);
    return [level, message ?? msg];
  });
}

Deno.test("envoyLines(): a line in Envoy's format keeps its level", () => {
  const levels = [["trace", "DEBUG"], ["debug", "DEBUG"], ["info", "INFO"], ["warning", "WARN"], ["error", "ERROR"]];
  for (const [envoy, level] of [...levels, ["critical", "FATAL"]]) {
    const line = `${PREFIX}[${envoy}][main] [source/server/server.cc:463] text {with} braces`;
    assert.deepEqual(logged(line), [[level, line]]);
  }
});

Deno.test("envoyLines(): a line without a level has the level of the line before", () => {
  const [info, critical] = [`${PREFIX}[info][main] [a.cc:1] a`, `${PREFIX}[critical][main] [b.cc:2] b`];
  assert.deepEqual(logged("PARSE ERROR: --x", info, "more", critical, "why"), [
    ["ERROR", "PARSE ERROR: --x"],
    ["INFO", info],
    ["INFO", "more"],
    ["FATAL", critical],
    ["FATAL", "why"],
  ]);
});

Deno.test("envoyLines(): JSON passes unchanged; lines that only start like JSON are converted", () => {
  assert.deepEqual(logged('{"level":"warning","msg":"of Envoy"}', '{"admin":', "{}x"), [
    ["warning", "of Envoy"],
    ["ERROR", '{"admin":'],
    ["ERROR", "{}x"],
  ]);
});

Deno.test("envoyLines(): a closed log does not end the agent", () => {
  const { stdout, ...fake } = fakeWorld({ stdoutClosesAfter: 3 });
  const world = { ...fake, stdout, stderr: stdout };
  envoyLines(world, startLog(world, "agent", { format: "json" }))('{"msg":"of Envoy"}');
  assert.throws(() => stdout.write("more"));
});

Deno.test("envoyLines() continues when writing to stderr fails, because only the agent reads Envoy's output", () => {
  const world = fakeWorld();
  const full = { ...world, stderr: { ...world.stderr, write: () => assert.fail("No space left on device") } };
  const write = envoyLines(full, startLog(full, "agent", { format: "json" }));
  for (const line of ['{"level":"warning"}', "plain"]) write(line);
});
