import { LABEL } from "../../../core/mesh/annotations/labels.ts";
import { newMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { type Inventory, isKnown } from "../../inventory/mod.ts";
import { cannotTell, findingOf, type Problem } from "../findings.ts";
import { adviceFor } from "./failures.ts";
import { distinct, isActive } from "./injectors.ts";
import { calleeOf } from "./service.ts";

/**
 * The API server reaches each webhook: a pod that matches it gets a sidecar in a dry run. One pod for each
 * configuration and target, by the first of its webhooks that selects a namespace.
 */
export async function reachable(webhooks: readonly InjectorWebhook[], inventory: Inventory): Promise<Finding> {
  const problems: Problem[] = [];
  const tried: string[] = [];
  let doubt: string | undefined;
  for (const group of groupsOf(webhooks)) {
    const found = await firstRun(group, inventory);
    if ("finding" in found) return found.finding;
    if (found.run === undefined) continue;
    tried.push(found.run.namespace);
    const verdict = await JUDGES[found.run.outcome](found.webhook, found.run, inventory);
    if ("doubt" in verdict) doubt ??= verdict.doubt;
    else if (verdict.message !== undefined) {
      problems.push({ object: configurationRef(found.webhook), result: "error", message: verdict.message });
    }
  }
  if (problems.length > 0) return findingOf(problems);
  if (doubt !== undefined) return { result: "unknown", message: `cannot tell: ${doubt}` };
  if (tried.length === 0) return { result: "skipped", message: "no namespace matches its selectors" };
  return { result: "ok", message: `by a dry run in the namespace ${[...new Set(tried)].join(", ")}` };
}

/** The webhooks of a configuration with the same target. */
function groupsOf(webhooks: readonly InjectorWebhook[]): InjectorWebhook[][] {
  const active = webhooks.filter(isActive);
  const key = ({ configuration, target }: InjectorWebhook) => JSON.stringify([configuration, target]);
  return distinct(active, key).map((first) => active.filter((webhook) => key(webhook) === key(first)));
}

type Found = { readonly finding: Finding } | { readonly webhook: InjectorWebhook; readonly run: DryRun | undefined };

/** Webhooks that select by namespace come first: their pods need no label. */
async function firstRun(group: readonly InjectorWebhook[], inventory: Inventory): Promise<Found> {
  const namespaces = await inventory.namespaces();
  if (!isKnown(namespaces)) return { finding: cannotTell(namespaces) };
  const isAsked = (webhook: InjectorWebhook) =>
    namespaces.value.some((namespace) => sendsPod(webhook, labelsOfObject(namespace), newMap()));
  let found: Found = { finding: { result: "skipped" } };
  for (const webhook of group.toSorted((a, b) => Number(isAsked(b)) - Number(isAsked(a)))) {
    const run = await inventory.dryRun(webhook);
    if (!isKnown(run)) return { finding: cannotTell(run) };
    found = { webhook, run: run.value };
    if (run.value !== undefined) return found;
  }
  return found;
}

/** `message` is the problem; `doubt` is why the result is unknown. */
type Verdict = { readonly message: string | undefined } | { readonly doubt: string };

type Judge = (webhook: InjectorWebhook, run: DryRun, inventory: Inventory) => Verdict | Promise<Verdict>;

const JUDGES: Readonly<Record<DryRun["outcome"], Judge>> = {
  injected: () => ({ message: undefined }),
  "not-injected": notInjected,
  refused: (_webhook, run) => {
    if (CONDITION_FAILS.test(run.message)) {
      return { message: `the API server denies every pod that matches it: ${run.message}\nfix its matchConditions` };
    }
    return run.isOfSidecar ? REACHED : { doubt: `the API server denies a pod in ${where(run)}: ${run.message}` };
  },
  denied: (webhook, run) => {
    if (run.webhook === webhook.name) return { message: `it answers, and denies a pod: ${run.message}` };
    return run.isOfSidecar ? REACHED : { doubt: `another webhook denies a pod in ${where(run)}: ${run.message}` };
  },
  failed: async (webhook, run, inventory) => {
    if (run.webhook !== webhook.name) return { doubt: `another webhook cannot be called: ${run.message}` };
    return { message: `${run.message}\n${adviceFor(run.message, await calleeOf(webhook.target, inventory))}` };
  },
};

/** The pod is refused for its sidecar only: "pod-admission" and the other checks of that category report it. */
const REACHED: Verdict = { message: undefined };

/** k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions: an expression that ends with an error. */
const CONDITION_FAILS = /resulted in error/;

function where({ namespace }: DryRun): string {
  return `the namespace "${namespace}"`;
}

/**
 * With Fail the webhook answered, or no webhook was called. A pod that asks for a sidecar by its label gets one from
 * every configuration. With Ignore it may not have answered.
 */
async function notInjected(webhook: InjectorWebhook, run: DryRun, inventory: Inventory): Promise<Verdict> {
  const { failurePolicy, name, timeoutSeconds, matchConditions } = webhook;
  const state = `a pod in ${where(run)} is created without a sidecar`;
  if (matchConditions.length > 0) return { doubt: `${state}: the matchConditions of "${name}" may exclude it` };
  if (failurePolicy === "Fail" && run.labels[LABEL.inject] === "true") {
    return {
      message: `${state}, although failurePolicy is Fail: the API server does not call "${name}"\n` +
        "enable the admission plugin MutatingAdmissionWebhook of kube-apiserver; if it is enabled, see the log of the webhook",
    };
  }
  if (failurePolicy === "Fail") {
    return { doubt: `${state}: the configuration of "${name}" excludes it, or the API server calls no webhook` };
  }
  if (run.took >= timeoutSeconds * 1000) {
    const advice = adviceFor("timed out", await calleeOf(webhook.target, inventory));
    return { message: `${state} after ${timeoutSeconds} s, the timeout of "${name}"\n${advice}` };
  }
  return { message: `${state}: "${name}" does not answer, and failurePolicy Ignore hides it\ncheck its pods and logs` };
}
