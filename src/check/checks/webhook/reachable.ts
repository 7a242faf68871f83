import { LABEL } from "../../../core/mesh/annotations/labels.ts";
import { newMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { cannotTell, type Facts, inEach } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { distinct, isActive } from "./injectors.ts";
import { adviceOn } from "./service.ts";

/**
 * The API server reaches each webhook: a pod that matches it gets a sidecar in a dry run. One pod for each
 * configuration and target, by the first of its webhooks that selects a namespace.
 */
export async function reachable(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const tried: string[] = [];
  const problems = await inEach(groupsOf(webhooks), async (group): Promise<readonly Problem[]> => {
    const found = await firstRun(group, facts);
    if (found === undefined) return [];
    tried.push(found.run.namespace);
    const message = await JUDGES[found.run.outcome](found.webhook, found.run, facts);
    return message === undefined ? [] : [{ object: configurationRef(found.webhook), result: "error", message }];
  });
  if (problems.length > 0) return findingOf(problems);
  if (tried.length === 0) return { result: "skipped", message: "no namespace matches its selectors" };
  return { result: "ok", message: `by a dry run in the namespace ${[...new Set(tried)].join(", ")}` };
}

/** The webhooks of a configuration with the same target. */
function groupsOf(webhooks: readonly InjectorWebhook[]): InjectorWebhook[][] {
  const active = webhooks.filter(isActive);
  const key = ({ configuration, target }: InjectorWebhook) => JSON.stringify([configuration, target]);
  return distinct(active, key).map((first) => active.filter((webhook) => key(webhook) === key(first)));
}

interface Tried {
  readonly webhook: InjectorWebhook;
  readonly run: DryRun;
}

/** Webhooks that select by namespace come first: their pods need no label. */
async function firstRun(group: readonly InjectorWebhook[], facts: Facts): Promise<Tried | undefined> {
  const namespaces = await facts.namespaces();
  const isAsked = (webhook: InjectorWebhook) =>
    namespaces.some((namespace) => sendsPod(webhook, labelsOfObject(namespace), newMap()));
  for (const webhook of group.toSorted((a, b) => Number(isAsked(b)) - Number(isAsked(a)))) {
    const run = await facts.dryRun(webhook);
    if (run !== undefined) return { webhook, run };
  }
  return undefined;
}

/** The problem that the outcome shows. */
type Judge = (
  webhook: InjectorWebhook,
  run: DryRun,
  facts: Facts,
) => string | undefined | Promise<string | undefined>;

const JUDGES: Readonly<Record<DryRun["outcome"], Judge>> = {
  injected: () => undefined,
  "not-injected": notInjected,
  refused: (_webhook, run) => {
    if (CONDITION_FAILS.test(run.message)) {
      return `the API server denies every pod that matches it: ${run.message}\nfix its matchConditions`;
    }
    return run.isOfSidecar ? REACHED : cannotTell(`the API server denies a pod in ${where(run)}: ${run.message}`);
  },
  denied: (webhook, run) => {
    if (run.webhook === webhook.name) return `it answers, and denies a pod: ${run.message}`;
    return run.isOfSidecar ? REACHED : cannotTell(`another webhook denies a pod in ${where(run)}: ${run.message}`);
  },
  failed: async (webhook, run, facts) => {
    if (run.webhook !== webhook.name) return cannotTell(`another webhook cannot be called: ${run.message}`);
    return `${run.message}\n${await adviceOn(run.message, webhook.target, facts)}`;
  },
};

/** The pod is refused for its sidecar only: "pod-admission" and the other checks of that category report it. */
const REACHED = undefined;

/** k8s.io/apiserver/pkg/admission/plugin/webhook/matchconditions: an expression that ends with an error. */
const CONDITION_FAILS = /resulted in error/;

function where({ namespace }: DryRun): string {
  return `the namespace "${namespace}"`;
}

/**
 * With Fail the webhook answered, or no webhook was called. A pod that asks for a sidecar by its label gets one from
 * every configuration. With Ignore it may not have answered.
 */
async function notInjected(webhook: InjectorWebhook, run: DryRun, facts: Facts): Promise<string> {
  const { failurePolicy, name, timeoutSeconds, matchConditions } = webhook;
  const state = `a pod in ${where(run)} is created without a sidecar`;
  if (matchConditions.length > 0) cannotTell(`${state}: the matchConditions of "${name}" may exclude it`);
  if (failurePolicy === "Fail" && run.labels[LABEL.inject] === "true") {
    return `${state}, although failurePolicy is Fail: the API server does not call "${name}"\n` +
      "enable the admission plugin MutatingAdmissionWebhook of kube-apiserver; if it is enabled, see the log of the webhook";
  }
  if (failurePolicy === "Fail") {
    cannotTell(`${state}: the configuration of "${name}" excludes it, or the API server calls no webhook`);
  }
  if (run.took >= timeoutSeconds * 1000) {
    return `${state} after ${timeoutSeconds} s, the timeout of "${name}"\n` +
      await adviceOn("timed out", webhook.target, facts);
  }
  return `${state}: "${name}" does not answer, and failurePolicy Ignore hides it\ncheck its pods and logs`;
}
