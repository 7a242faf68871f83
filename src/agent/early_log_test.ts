import assert from "node:assert/strict";
import { fakeWorld } from "../../test/support/fake_world.ts";
import { earlyLog } from "./early_log.ts";

/** Whether the log is JSON, by words and MESH_LOG_FORMAT. */
const CASES: readonly (readonly [readonly string[], string, boolean])[] = [
  [[], "", false],
  [[], "json", true],
  [[], "xml", false],
  [["--log_as_json"], "", true],
  [["--log_as_json=false"], "", false],
  [["--log-format", "json"], "text", true],
  [["--log-format=text"], "json", false],
  [["--log-format=xml", "--no-such-flag", "--concurrency=x", "--log-level=loud"], "json", false],
  [["--no-such-flag", "--log_as_json", "--concurrency=x"], "", true],
];

for (const [words, variable, isJson] of CASES) {
  Deno.test(`earlyLog(): "${words.join(" ")}" with MESH_LOG_FORMAT "${variable}"`, () => {
    const world = fakeWorld({ env: { MESH_LOG_FORMAT: variable, MESH_LOG_LEVEL: "loud" } });
    const early = earlyLog(world, words, "agent");
    early.write("info", "a line with {braces}");
    assert.equal(early.isJson, isJson);
    assert.equal(world.said.stderr.startsWith("{"), isJson);
    assert.match(world.said.stderr, /a line with \{braces\}/);
  });
}
