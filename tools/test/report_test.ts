import assert from "node:assert/strict";
import { failuresIn, sum, summary, tallyOf, tallyOfOutput } from "./report.ts";

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

Deno.test("summary() closes with errors, skipped tests, names of the failed, and counts", () => {
  const text = summary(sum([tallyOf(JUNIT), tallyOf(JUNIT)]), [{ name: "a => x:1:2", text: "error: boom" }]);
  const skipped = '  needs "nft" [skipped: no nft]\n';
  assert.equal(
    text,
    `\n=== Failed: a => x:1:2\nerror: boom\n\nSkipped:\n${skipped}${skipped}\nFAILED a => x:1:2\n4 passed, 2 failed, 2 skipped\n`,
  );
});

Deno.test("failuresIn() splits the errors of a run at the names of the failed, in color too", () => {
  for (const inColor of [(word: string) => word, (word: string) => `\x1b[48;5;9m\x1b[38;5;15m${word}\x1b[0m`]) {
    const output = [
      "a ... FAILED",
      "",
      inColor(" ERRORS "),
      "",
      inColor("a => x:1:2"),
      "error: b => x:3:4",
      "",
      "  at c => x:5:6",
      "",
      inColor("./y_test.ts (uncaught error)"),
      ...Array.from({ length: 100 }, () => "line"),
      "",
      inColor(" FAILURES "),
      "",
      inColor("a => x:1:2"),
      inColor("./y_test.ts (uncaught error)"),
      "",
      "FAILED | 0 passed | 2 failed",
      "error: Test failed",
    ].join("\n");
    const [first, second, ...others] = failuresIn(output, ["x"]);
    assert.deepEqual(first, { name: "a => x:1:2", text: "error: b => x:3:4\n\n  at c => x:5:6" });
    assert.equal(second?.name, "./y_test.ts (uncaught error)");
    assert.deepEqual(second?.text.split("\n").slice(58), ["line", "line", "... 41 more lines"]);
    assert.deepEqual(others, []);
  }
});

Deno.test("failuresIn() has the last lines of a run that died", () => {
  const [died] = failuresIn(`${"line\n".repeat(100)}Segmentation fault\n`, ["x_test.ts"]);
  assert.equal(died?.name, "the process of x_test.ts");
  assert.equal(died?.text.split("\n").length, 40);
  assert.match(died?.text ?? "", /Segmentation fault$/);
});

Deno.test("summary() names the files that had no time, and still closes with the counts", () => {
  const text = summary({ passed: 1, failed: 0, skipped: [] }, [], ["a_test.ts", "b_test.ts"]);
  assert.equal(text, "\n2 not run: out of time: a_test.ts b_test.ts\n\n1 passed, 0 failed, 0 skipped\n");
});

Deno.test("tallyOfOutput() counts the tests of a run that was cut, not their steps", () => {
  const output =
    "a ... ok (1ms)\nb ...\n  step ... FAILED (2ms)\nb ... \x1b[31mFAILED\x1b[0m (due to 1 failed step) (3ms)\nc ...\n";
  assert.deepEqual(tallyOfOutput(output), { passed: 1, failed: 1, skipped: [] });
});
