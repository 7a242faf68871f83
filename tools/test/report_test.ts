import assert from "node:assert/strict";
import { errorsIn, sum, summary, tallyOf } from "./report.ts";

const JUNIT = `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="deno test" tests="4" failures="1" errors="0" time="0.012">
    <testsuite name="./a_test.ts" tests="4">
        <testcase name="passes" classname="./a_test.ts" time="0.001" line="1" col="6">
        </testcase>
        <testcase name="short" classname="./a_test.ts"/>
        <testcase name="fails" classname="./a_test.ts">
            <failure message="Uncaught">Error: &lt;skipped/&gt;</failure>
        </testcase>
        <testcase name="needs &quot;nft&quot; [skipped: no nft]" classname="./a_test.ts">
            <skipped/>
        </testcase>
    </testsuite>
</testsuites>
`;

Deno.test("tallyOf() counts passed, failed and skipped tests and keeps the names of the skipped", () => {
  assert.deepEqual(tallyOf(JUNIT), { passed: 2, failed: 1, skipped: ['needs "nft" [skipped: no nft]'] });
});

Deno.test("tallyOf() counts a report that is absent or cut off as a failure", () => {
  assert.equal(tallyOf(undefined).failed, 1);
  assert.equal(tallyOf(JUNIT.slice(0, 300)).failed, 1);
});

Deno.test("summary() lists the skipped and closes with the counts", () => {
  const text = summary(sum([tallyOf(JUNIT), tallyOf(JUNIT)]));
  assert.match(text, /Skipped:\n {2}needs "nft" \[skipped: no nft\]\n/);
  assert.equal(text.trimEnd().split("\n").at(-1), "4 passed, 2 failed, 2 skipped");
});

Deno.test("errorsIn() finds the errors of a run, in color too, and else its last lines", () => {
  const rest = "\n FAILURES \n\na => x:1\n\nFAILED | 0 passed\n";
  assert.equal(errorsIn(`a ... FAILED\n\n ERRORS \n\na => x:1\nerror: boom\n${rest}`), "a => x:1\nerror: boom");
  const inColor = (word: string) => `\x1b[48;5;9m\x1b[38;5;15m ${word} \x1b[0m`;
  assert.equal(errorsIn(`\n${inColor("ERRORS")}\n\nerror: boom\n\n${inColor("FAILURES")}\n`), "error: boom");
  assert.equal(errorsIn(`${"line\n".repeat(100)}Segmentation fault\n`).split("\n").length, 40);
});
