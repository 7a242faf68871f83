/** `inject` and `check injection -f` give the same verdict about each workload of every file at hand. */
import assert from "node:assert/strict";
import { configurationOf, injection, type Injector, newInjector, type ReportEntry } from "../../src/inject/mod.ts";
import { injectCases, injectorOf } from "../support/cases/inject.ts";
import { CORPUS, eachManifest, manifestFiles } from "../support/cases/manifests.ts";
import { changedText } from "../support/changed_text.ts";
import { checkExplanations } from "../support/check_verdicts.ts";
import { needsShared, SHARED } from "../support/test_when.ts";

/** Reasons for documents that `check injection` does not name: they have no pod of a known kind. */
const NO_WORKLOAD = ["no-kind", "not-a-workload", "kind-misspelled", "kind-refused", "template-unknown-kind", "empty-list"];

/** With named manifests `inject` injects where these rules of the webhook do not. */
const BY_HAND = ["policy-disabled", "policy-invalid", "never-inject-selector"];

function verdictOf({ result, reason }: ReportEntry): string {
  if (result === "injected" || result === "unchanged") return "injected";
  if (result === "skipped") return "not-injected";
  return reason === "invalid-yaml" ? "cannot-tell" : "refused";
}

async function compare(text: string, injector: Injector): Promise<void> {
  const { entries } = await changedText(text, injection(injector));
  const ofWorkloads = entries.filter(({ reason }) => !NO_WORKLOAD.includes(reason));
  const explanations = await checkExplanations(text, injector);
  assert.equal(explanations.length, ofWorkloads.length, "one of both misses a workload");
  ofWorkloads.forEach((entry, index) => {
    const explanation = explanations[index];
    assert.ok(explanation !== undefined);
    if (entry.reason === "list-item-failed" || BY_HAND.includes(explanation.reason)) return;
    assert.equal(explanation.verdict, verdictOf(entry), `${entry.kind} ${entry.name}: ${explanation.message}`);
    // A gateway that is opted out.
    if (explanation.reason === "proxy-in-manifest") return;
    if (entry.result === "failed" || entry.result === "skipped") assert.equal(explanation.reason, entry.reason);
  });
}

const BUILT_IN = newInjector({
  ...configurationOf({}),
  byHand: true,
  env: () => undefined,
  now: () => new Date(0),
});

Deno.test("inject and check injection -f agree about the manifests at hand", async (t) => {
  await eachManifest(t, async (path) => await compare(await Deno.readTextFile(path), BUILT_IN));
  const folders = [CORPUS, ...needsShared("cases/corpus") === undefined ? [`${SHARED}/cases/corpus`] : []];
  for (const path of manifestFiles(folders)) {
    await t.step(path, async () => await compare(await Deno.readTextFile(path), BUILT_IN));
  }
});

Deno.test("inject and check injection -f agree about the cases of Istio", async (t) => {
  for (const item of (await injectCases()).filter(({ fails }) => !fails)) {
    await t.step(item.name, async () => await compare(item.input, injectorOf(item, true)));
  }
});
