import assert from "node:assert/strict";
import { reporter } from "./thresholds.ts";

/** Results (`+` well, `-` not), and what is reported of each (`.`: nothing). */
const CASES = [
  { success: 1, failure: 1, results: "++-+--+", reports: "+.-+-.+" },
  { success: 1, failure: 1, results: "--+", reports: "-.+" },
  { success: 2, failure: 1, results: "+-++-+", reports: ".-.+-." },
  { success: 1, failure: 3, results: "--+--+---+", reports: "..+.....-+" },
  { success: 2, failure: 2, results: "+-+-++--", reports: ".....+.-" },
  { success: 3, failure: 3, results: "+++++---", reports: "..+....-" },
] as const;

Deno.test("reporter() reports changes alone, after as many results in a row as the thresholds say", () => {
  for (const { success, failure, results, reports } of CASES) {
    const report = reporter({ successThreshold: success, failureThreshold: failure });
    const made = [...results].map((result, index) => {
      const made = report(result === "+" ? undefined : `failure ${index}`);
      if (made === undefined) return ".";
      if (made.problem !== undefined) assert.equal(made.problem, `failure ${index}`);
      return made.problem === undefined ? "+" : "-";
    });
    assert.equal(made.join(""), reports, JSON.stringify({ success, failure, results }));
  }
});
