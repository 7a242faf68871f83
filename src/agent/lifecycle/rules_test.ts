import assert from "node:assert/strict";
import { type DrainLimits, longestDrain } from "./rules.ts";

const CASES: readonly (readonly [string, DrainLimits, number])[] = [
  ["nothing is given", { minimum: 5000 }, 3_600_000],
  ["terminationDrainDuration is chosen", { minimum: 5000, chosenDuration: 30_000 }, 30_000],
  ["a limit of its own goes first", { minimum: 5000, chosenDuration: 30_000, maximum: 90_000 }, 90_000],
  ["never below the minimum", { minimum: 5000, chosenDuration: 1000 }, 5000],
  ["a limit of nothing is the minimum", { minimum: 5000, maximum: 0 }, 5000],
];

for (const [name, limits, milliseconds] of CASES) {
  Deno.test(`longestDrain(): ${name}`, () => assert.equal(longestDrain(limits), milliseconds));
}
