/** Each check with a real API server: breaks one thing, expects its report, and fixes it. */
import assert from "node:assert/strict";
import { fixLines } from "../../../src/check/advice/text.ts";
import { ALL_CHECKS } from "../../../src/check/checks/all.ts";
import { testWhen } from "../../support/test_when.ts";
import { needsCluster } from "../support/cluster/cluster.ts";
import { BREAKAGES } from "./support/breakages.ts";
import type { Breakage } from "./support/breaking.ts";
import { type MeshCluster, startMesh } from "./support/mesh_cluster.ts";
import type { Results } from "./support/results.ts";

testWhen(needsCluster(), "each check reports its problem and only that, until it is fixed", async (t) => {
  const mesh = await startMesh();
  try {
    await t.step("a healthy mesh", async () => void await comesTo(mesh, {}));
    for (const [name, breakage] of Object.entries(BREAKAGES)) {
      await t.step(name, () => tellsAndHeals(mesh, breakage));
    }
  } finally {
    await mesh.stop();
  }
});

async function tellsAndHeals(mesh: MeshCluster, { make, heal, told, says }: Breakage): Promise<void> {
  await make(mesh);
  try {
    const results = await comesTo(mesh, told);
    const [id = ""] = Object.keys(told);
    const { message = "", fixes = [], hint, objects } = results.get(id) ?? {};
    assert.match([message, ...fixLines(fixes).map(({ text }) => text)].join("\n"), says);
    assert.equal(hint, `see "kubectl mesh check --explain ${id}"`);
    assert.ok(objects !== undefined && (objects.length > 0 || id === "webhook-exists"));
  } finally {
    await heal(mesh);
  }
  await comesTo(mesh, {});
}

const DEADLINE = 60_000;

/** Waits until exactly these checks are errors or warnings: the API server sees changes a little later. */
async function comesTo(mesh: MeshCluster, told: Breakage["told"]): Promise<Results> {
  for (const end = Date.now() + DEADLINE;;) {
    const results = await mesh.results();
    const bad = [...results.values()].filter(({ result }) => result === "error" || result === "warning");
    const found = Object.fromEntries(bad.map(({ id, result }) => [id, result]));
    if (isSame(found, told)) return results;
    if (Date.now() > end) assert.deepEqual(found, told, bad.map(({ id, message }) => `${id}: ${message}`).join("\n"));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const text = (all: Readonly<Record<string, string>>) => Object.entries(all).map(String).sort().join();
  return text(a) === text(b);
}

/** Checks that `servers_test.ts` and `cluster_test.ts` cover: versions and flags of servers, clocks, limits. */
const ELSEWHERE = [
  "api-reachable",
  "api-version",
  "api-admission-registration",
  "api-mutating-admission",
  "api-validating-admission",
  "api-aggregator-routing",
  "clock-skew",
  "resource-quota",
  "limit-range",
];

Deno.test("there is a breakage for every check", () => {
  const broken = new Set([...Object.values(BREAKAGES).flatMap(({ told }) => Object.keys(told)), ...ELSEWHERE]);
  assert.deepEqual(ALL_CHECKS.map(({ id }) => id).filter((id) => !broken.has(id)), []);
});
