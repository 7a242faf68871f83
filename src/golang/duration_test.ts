import assert from "node:assert/strict";
import { formatDuration, readDuration } from "./duration.ts";

const SECOND = 1_000_000_000n;

Deno.test("readDuration reads the durations that Go reads", () => {
  const cases: [string, bigint][] = [
    ["0", 0n],
    ["+0", 0n],
    ["5s", 5n * SECOND],
    ["-5s", -5n * SECOND],
    ["1h15m30.918s", 4530_918_000_000n],
    ["1.5h", 5400n * SECOND],
    [".5s", SECOND / 2n],
    ["5.s", 5n * SECOND],
    ["1us", 1000n],
    ["1\u00b5s1\u03bcs", 2000n],
    ["10s1ms", 10_001_000_000n],
    ["0.3333333333333333333h", 1_200_000_000_000n],
    ["9223372036854775807ns", 9223372036854775807n],
    ["-9223372036854775808ns", -9223372036854775808n],
  ];
  for (const [text, expected] of cases) assert.equal(readDuration(text), expected, text);
});

Deno.test("readDuration gives the reason for any other text", () => {
  const cases: [string, RegExp][] = [
    ["", /^it is empty$/],
    ["-", /it is empty/],
    ["3", /a unit is missing/],
    ["s", /a number is missing/],
    [".s", /a number is missing/],
    ["1x", /the unit "x" is unknown/],
    ["1 s", /the unit " s" is unknown/],
    ["9223372036854775808ns", /longer than 292 years/],
    ["3000000h", /longer than 292 years/],
  ];
  for (const [text, message] of cases) {
    const result = readDuration(text);
    assert.match(typeof result === "bigint" ? "" : result.reason, message, text);
  }
  assert.deepEqual(readDuration("1"), { reason: "a unit is missing", go: "missing unit in duration" });
});

Deno.test("formatDuration prints as Go does", () => {
  const cases: [bigint, string][] = [
    [0n, "0s"],
    [1n, "1ns"],
    [1100n, "1.1\u00b5s"],
    [2_200_000n, "2.2ms"],
    [3_300_000_000n, "3.3s"],
    [245n * SECOND, "4m5s"],
    [245_001_000_000n, "4m5.001s"],
    [3600n * SECOND, "1h0m0s"],
    [-45n * SECOND, "-45s"],
    [9223372036854775807n, "2562047h47m16.854775807s"],
  ];
  for (const [nanoseconds, expected] of cases) assert.equal(formatDuration(nanoseconds), expected);
});
