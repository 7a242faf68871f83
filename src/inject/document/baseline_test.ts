import assert from "node:assert/strict";
import { Baseline } from "./baseline.ts";
import { entryJson, type ReportEntry } from "./report.ts";

function entry(line: number, cached = "cached"): ReportEntry {
  return {
    ...{ file: `${line}.yaml`, document: line, apiVersion: "v1", kind: "Pod", namespace: "", name: "web" },
    ...{ result: "injected", reason: "policy-enabled", field: "", message: "" },
    warnings: [`line ${line}: metadata.labels.${cached}: Kubernetes refuses true`, "another warning"],
  };
}

Deno.test("a baseline knows a warning on another line of another file", () => {
  const known = new Baseline(`${entryJson(entry(3))}\n`);
  assert.deepEqual(known.newOf(entry(7)).warnings, []);
});

Deno.test("a baseline does not know the warning about another field", () => {
  const known = new Baseline(entryJson(entry(3)));
  assert.deepEqual(known.newOf(entry(3, "other")).warnings, [
    "line 3: metadata.labels.other: Kubernetes refuses true",
  ]);
});
