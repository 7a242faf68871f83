/** Our own cases cover each feature of a shared case, and equal the recorded cases. */
import assert from "node:assert/strict";
import { sharedList } from "../../../support/cases/inject.ts";
import { readRecordedCases } from "../recorded.ts";
import { OWN_CASES } from "./cases.ts";

Deno.test("own cases of injection: names are unique, and Istio fails where a case says so", async () => {
  const recorded = await readRecordedCases();
  assert.deepEqual(recorded.map(({ name }) => name), OWN_CASES.map(({ name }) => name), "record the answers again");
  assert.equal(new Set(recorded.map(({ name }) => name)).size, recorded.length);
  const failed = (one: { name: string; error?: string }) => one.error === undefined ? [] : [one.name];
  assert.deepEqual(recorded.flatMap(failed), OWN_CASES.flatMap(({ name, fails }) => fails === true ? [name] : []));
});

Deno.test("own cases of injection: each shared case has one like it", () => {
  const named = OWN_CASES.flatMap(({ like }) => like);
  assert.equal(new Set(named).size, named.length, "a shared case is named twice");
  assert.ok(named.length > 100);
  const shared = sharedList().map(({ name }) => name);
  if (shared.length > 0) assert.deepEqual(named.toSorted(), shared.toSorted());
});
