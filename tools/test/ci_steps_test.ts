/** `.ci/steps.sh`: what a person reads first in the log of a failed CI is its end. */
import assert from "node:assert/strict";
import { testWhen } from "../../test/support/test_when.ts";
import { summary } from "./report.ts";

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname);
const missing = Deno.build.os === "windows" ? "no bash" : undefined;

/** Runs steps and suites; the exit code and the lines after the last one's output. */
async function ci(...lines: readonly string[]): Promise<{ code: number; end: string[] }> {
  const script = `set -uo pipefail; . .ci/steps.sh\n${lines.join("\n")}\necho "##### end"\nfinish`;
  const { code, stdout } = await new Deno.Command("bash", { args: ["-c", script], cwd: ROOT }).output();
  return { code, end: new TextDecoder().decode(stdout).split("##### end\n")[1]?.trim().split("\n") ?? [] };
}

/** A command that prints a text. */
const print = (text: string) => `printf '%s' '${text}'`;

testWhen(missing, "without a failure CI ends with the counts", async () => {
  const passing = summary({ passed: 3, failed: 0, skipped: ["x [skipped: no root]"] }, []);
  const { code, end } = await ci("step fmt true", `suite tests ${print(passing)}`);
  assert.deepEqual({ code, end }, { code: 0, end: ["4 passed, 0 failed, 1 skipped"] });
});

testWhen(missing, "CI ends with the errors and the names of all failed tests and steps", async () => {
  const failures = [
    { name: "a => ./a_test.ts:1:2", text: "error: boom\n  at a" },
    { name: "b => ./b_test.ts:3:4", text: "error: bang" },
  ];
  const failing = `=== e2e: test/a_test.ts (3s)\na ... FAILED\n\nFAILED | 0 passed | 2 failed\n${
    summary({ passed: 3, failed: 2, skipped: ["x [skipped: no root]"] }, failures)
  }`;
  const lines = [`suite tests ${print(failing)}`, "suite later bash -c 'echo panic; exit 101'", "step lint false"];
  const { code, end } = await ci(...lines, `suite last ${print("1 passed, 0 failed, 0 skipped\n")}`);
  assert.equal(code, 1);
  assert.deepEqual(end, [
    "##### tests",
    "=== Failed: a => ./a_test.ts:1:2",
    "error: boom",
    "  at a",
    "",
    "=== Failed: b => ./b_test.ts:3:4",
    "error: bang",
    "",
    "",
    "##### later",
    "panic",
    "",
    "##### lint",
    "",
    "FAILED tests: a => ./a_test.ts:1:2",
    "FAILED tests: b => ./b_test.ts:3:4",
    "FAILED later: 1 failed",
    "FAILED lint",
    "4 passed, 4 failed, 1 skipped",
  ]);
});

testWhen(missing, "CI says which tests had no time", async () => {
  const late = summary({ passed: 3, failed: 0, skipped: [] }, [], ["a_test.ts", "b_test.ts"]);
  const { code, end } = await ci(`suite long ${print(late)}`);
  assert.deepEqual({ code, end }, {
    code: 0,
    end: ["long: 2 not run: out of time: a_test.ts b_test.ts", "3 passed, 0 failed, 0 skipped"],
  });
});
