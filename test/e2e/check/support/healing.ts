/** Tests a breakage: its report, its advice, and whether the mesh is healthy afterwards. */
import assert from "node:assert/strict";
import { fixLines } from "../../../../src/check/advice/text.ts";
import type { CheckResult } from "../../../../src/check/result_schema.ts";
import { DEADLINE_MILLISECONDS, until } from "../../../support/until.ts";
import { tried } from "../../support/cluster/requests.ts";
import { held } from "../../support/pods.ts";
import { BREAKAGES } from "./breakages.ts";
import type { Breakage } from "./breaking.ts";
import { BAD, explainAll, firstCommands, follow, injectedIn, namespaceLabels, picked, worse } from "./cures.ts";
import { INCURABLE, NO_CURE } from "./incurable.ts";
import { type MeshCluster, podOf, startMesh } from "./mesh_cluster.ts";
import type { Results } from "./results.ts";

/** Tests every second breakage, starting with the first or the second: two tests share the work. */
export async function healEverySecond(t: Deno.TestContext, first: 0 | 1): Promise<void> {
  const mesh = await startMesh();
  try {
    await t.step("a healthy mesh", async () => void await comesTo(mesh, {}));
    const healthy = await newPods(mesh);
    for (const [name, breakage] of Object.entries(BREAKAGES).filter((_, index) => index % 2 === first)) {
      await t.step(name, async () => {
        await reportsAndHeals(mesh, breakage, INCURABLE[name] !== undefined);
        await until(async () => await newPods(mesh) === healthy, "Never: new pods are as before");
      });
    }
    await t.step("a healthy mesh again", async () => void await comesTo(mesh, {}));
  } finally {
    await mesh.stop();
  }
}

/**
 * Shows how the API server changes new pods. A full check takes ten times as long, and the next breakage reveals other
 * remains.
 */
async function newPods({ cluster }: MeshCluster): Promise<string> {
  const all = await Promise.all(["mesh", "plain"].map((namespace) => tried(cluster, podOf("new", { namespace }))));
  return JSON.stringify(all.map(({ made, refusal }) => made === undefined ? refusal : held(made)));
}

async function reportsAndHeals(mesh: MeshCluster, breakage: Breakage, isIncurable: boolean): Promise<void> {
  const { make, heal, expect, says } = breakage;
  const restoreLabels = await namespaceLabels(mesh);
  let isHealed = false;
  await make(mesh);
  try {
    const results = await comesTo(mesh, expect, says);
    const [id = ""] = Object.keys(expect);
    const { fixes = [], hint, objects } = results.get(id) ?? {};
    assert.equal(hint, `see "kubectl mesh check --explain ${id}"`);
    assert.ok(objects !== undefined && (objects.length > 0 || id === "webhook-exists"));
    assert.ok(fixes.length > 0, `${id} has no advice`);
    if (isIncurable) await isNoCure(mesh, fixes);
    else await isCured(mesh, breakage, { id, before: results });
    isHealed = !isIncurable;
  } finally {
    // The object may be gone, because the advice has already healed the mesh.
    await heal(mesh).catch((error) => {
      if (!isHealed) throw error;
    });
    await restoreLabels();
  }
}

async function isNoCure(mesh: MeshCluster, fixes: CheckResult["fixes"]): Promise<void> {
  for (const { commands: [command = ""], risk } of await firstCommands(mesh, fixes)) {
    assert.match(command, NO_CURE);
    assert.ok(["none", "loosens"].includes(risk), command);
  }
}

async function isCured(
  mesh: MeshCluster,
  { writer, picks, leaves, outside, reacts }: Breakage,
  { id, before }: { readonly id: string; readonly before: Results },
): Promise<void> {
  const { message = "" } = before.get(id) ?? {};
  const inMesh = injectedIn(await explainAll(mesh));
  const fixes = before.get(id)?.fixes ?? [];
  outside?.(textOf(before.get(id)));
  const advice = outside !== undefined
    ? []
    : picks === undefined
    ? await firstCommands(mesh, fixes)
    : picked(fixes, picks);
  assert.ok(advice.length > 0 || outside !== undefined, "The advice has no command");
  for (const each of advice) await follow(mesh, each, { message, writer, isDecided: picks !== undefined });
  await reacts?.(mesh);
  await untilWell(mesh, id, before);
  const still = new Set(injectedIn(await explainAll(mesh)));
  assert.deepEqual(inMesh.filter((each) => !still.has(each)), leaves === undefined ? [] : [leaves]);
}

/** Waits until a check reports neither an error nor a warning, and no check is worse than before. */
async function untilWell(mesh: MeshCluster, id: string, before: Results): Promise<void> {
  for (const end = Date.now() + DEADLINE_MILLISECONDS;;) {
    const results = await mesh.results();
    const { result = "", message } = results.get(id) ?? {};
    const isWell = !BAD.includes(result);
    const harm = worse(before, results);
    if (isWell && harm.length === 0) return;
    if (Date.now() > end) assert.fail(isWell ? harm.join("\n") : `The advice does not heal ${id}: ${message}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Waits until exactly these checks report errors or warnings, because the API server notices changes with a delay. */
async function comesTo(mesh: MeshCluster, expect: Breakage["expect"], says = /^/): Promise<Results> {
  for (const end = Date.now() + DEADLINE_MILLISECONDS;;) {
    const results = await mesh.results();
    const bad = [...results.values()].filter(({ result }) => BAD.includes(result));
    const found = Object.fromEntries(bad.map(({ id, result }) => [id, result]));
    const text = textOf(results.get(Object.keys(expect)[0] ?? ""));
    const isExpected = isSame(found, expect);
    if (isExpected && says.test(text)) return results;
    if (Date.now() > end && isExpected) assert.match(text, says);
    if (Date.now() > end) assert.deepEqual(found, expect, bad.map(({ id, message }) => `${id}: ${message}`).join("\n"));
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
}

/** Returns the message and the advice. */
function textOf({ message = "", fixes = [] }: Partial<CheckResult> = {}): string {
  return [message, ...fixLines(fixes).map(({ text }) => text)].join("\n");
}

function isSame(a: Readonly<Record<string, string>>, b: Readonly<Record<string, string>>): boolean {
  const text = (all: Readonly<Record<string, string>>) => Object.entries(all).map(String).sort().join();
  return text(a) === text(b);
}
