/**
 * Each check with a real API server: breaks one thing, expects its report, follows the advice, and fixes it. The advice
 * heals it, makes nothing else worse, and takes no workload out of the mesh.
 */
import assert from "node:assert/strict";
import { ALL_CHECKS } from "../../../src/check/checks/all.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { BREAKAGES } from "./support/breakages.ts";
import { healEverySecond } from "./support/healing.ts";
import { INCURABLE } from "./support/incurable.ts";

testWhen(needsCluster(), "each check reports its problem and only that, until its advice is followed", async (t) => {
  await healEverySecond(t, 0);
});

/** Checks that `servers_test.ts` and `cluster_test.ts` cover: versions and flags of servers, clocks, limits. */
const ELSEWHERE = [
  "api-reachable",
  "api-version",
  "api-admission-registration",
  "api-mutating-admission",
  "api-validating-admission",
  "api-aggregator-routing",
  "api-install-rights",
  "clock-skew",
  "resource-quota",
  "limit-range",
];

/** Checks that ask a proxy, and of pods on nodes: there is no kubelet here. Their unit tests have its answers. */
const BY_KUBELET = ["proxy-synchronised", "cni-plugin"];

Deno.test("there is a breakage for every check", () => {
  const expected = Object.values(BREAKAGES).flatMap(({ expect }) => Object.keys(expect));
  const broken = new Set([...expected, ...ELSEWHERE, ...BY_KUBELET]);
  assert.deepEqual(ALL_CHECKS.map(({ id }) => id).filter((id) => !broken.has(id)), []);
});

Deno.test("every breakage without a cure exists", () => {
  assert.deepEqual(Object.keys(INCURABLE).filter((name) => !(name in BREAKAGES)), []);
});
