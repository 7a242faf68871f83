import assert from "node:assert/strict";
import type { CheckResult } from "../result_schema.ts";
import { junitText } from "./junit.ts";

function result(id: string, outcome: CheckResult["result"], message = ""): CheckResult {
  const texts = { category: "webhook", title: `${id} is "well"`, hint: "", missingRight: "", becauseOf: "" };
  return { id, ...texts, result: outcome, message, fixes: [], objects: [] };
}

const RESULTS = [
  result("a", "ok"),
  result("b", "error", "1 < 2 & \u0001"),
  result("c", "warning", "careful"),
  result("d", "unknown", "no right"),
  result("e", "skipped", 'it needs "b"'),
];

Deno.test("junitText(): failures, skipped and unknown checks, and warnings as output", () => {
  assert.equal(
    junitText(RESULTS, "error"),
    `<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="kubectl mesh check" tests="5" failures="1" errors="0" skipped="2">
  <testsuite name="webhook" tests="5" failures="1" errors="0" skipped="2">
    <testcase classname="webhook" name="a: a is &quot;well&quot;"/>
    <testcase classname="webhook" name="b: b is &quot;well&quot;">
      <failure type="error" message="1 &lt; 2 &amp; \ufffd">1 &lt; 2 &amp; \ufffd</failure>
    </testcase>
    <testcase classname="webhook" name="c: c is &quot;well&quot;">
      <system-out>warning: careful</system-out>
    </testcase>
    <testcase classname="webhook" name="d: d is &quot;well&quot;">
      <skipped message="unknown: no right"/>
    </testcase>
    <testcase classname="webhook" name="e: e is &quot;well&quot;">
      <skipped message="skipped: it needs &quot;b&quot;"/>
    </testcase>
  </testsuite>
</testsuites>
`,
  );
});

Deno.test("junitText(): --fail-on says what is a failure", () => {
  const failures = (["error", "warning", "unknown"] as const).map((failOn) =>
    junitText(RESULTS, failOn).split("<failure ").length - 1
  );
  assert.deepEqual(failures, [1, 2, 3]);
});
