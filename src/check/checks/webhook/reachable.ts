import { newMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { type Inventory, isKnown } from "../../inventory/mod.ts";
import { cannotTell, findingOf, type Problem } from "../findings.ts";
import { adviceFor } from "./failures.ts";
import { distinct, isActive } from "./injectors.ts";
import { isCalled, podPort } from "./service.ts";

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
  refused: (_webhook, { namespace, message }) => ({
    doubt: `the API server denies a pod in the namespace "${namespace}": ${message}`,
  }),
  denied: (webhook, run) =>
    run.webhook === webhook.name
      ? { message: `it answers, and denies a pod: ${run.message}` }
      : { doubt: `another webhook denies a pod in the namespace "${run.namespace}": ${run.message}` },
  failed: async (webhook, run, inventory) => {
    if (run.webhook !== webhook.name) return { doubt: `another webhook cannot be called: ${run.message}` };
    const port = isCalled(webhook) ? await podPort(webhook.target, inventory) : undefined;
    return { message: `${run.message}\n${adviceFor(run.message, port)}` };
  },
};

/** With Fail the webhook answered, or no webhook was called. With Ignore it may not have answered. */
async function notInjected(webhook: InjectorWebhook, run: DryRun, inventory: Inventory): Promise<Verdict> {
  const { failurePolicy, name, timeoutSeconds } = webhook;
  const where = `a pod in the namespace "${run.namespace}" is created without a sidecar`;
  if (webhook.matchConditions.length > 0) {
    return { doubt: `${where}: the matchConditions of "${name}" may exclude it` };
  }
  if (failurePolicy === "Fail") {
    return {
      doubt: `${where}: the configuration of "${name}" excludes it, or the API server calls no webhook`,
    };
  }
  if (run.took >= timeoutSeconds * 1000) {
    const port = isCalled(webhook) ? await podPort(webhook.target, inventory) : undefined;
    return {
      message: `${where} after ${timeoutSeconds} s, the timeout of "${name}"\n${adviceFor("timed out", port)}`,
    };
  }
  return {
    message: `${where}: "${name}" does not answer, and failurePolicy Ignore hides it\ncheck its pods and logs`,
  };
}
