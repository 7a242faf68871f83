import assert from "node:assert/strict";
import { counted } from "./run_tests.ts";

Deno.test("counted() counts steps, tests without steps, and tests that fail beside their steps", () => {
  const cases = [
    { name: "Envoy 1.2.3 starts", outcome: "passed" },
    { name: "Envoy 1.2.3 talks", outcome: "passed" },
    { name: "Envoy 1.2.3 talks > one", outcome: "passed" },
    { name: "Envoy 1.2.3 talks > two", outcome: "passed" },
    { name: "Envoy 1.2.3 stops", outcome: "failed" },
    { name: "Envoy 1.2.3 stops > a", outcome: "passed" },
    { name: "Envoy 1.2.3 stops > b", outcome: "failed" },
    { name: "Envoy 1.2.3 leaks", outcome: "failed" },
    { name: "Envoy 1.2.3 leaks > c", outcome: "passed" },
    { name: "Envoy 1.2.4 starts", outcome: "failed" },
  ] as const;
  assert.deepEqual(counted(cases, /Envoy 1\.2\.3\b/), {
    passed: 5,
    failed: ["Envoy 1.2.3 stops > b", "Envoy 1.2.3 leaks"],
  });
});
