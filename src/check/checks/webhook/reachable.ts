import { newMap } from "../../../base/value.ts";
import { type Advice, byHand, harmless } from "../../advice/advice.ts";
import { edit } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { askConditions, loadConditions } from "../../injection/match_conditions.ts";
import { type DryRun, isUncalled, podToTry } from "../../inventory/dry_run.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { cannotTell, type Facts, inEach } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { explained } from "./failures.ts";
import { distinct, isActive } from "./injectors.ts";
import { calleeOf } from "./service.ts";
import { configurationNamed, logged } from "./webhook_advice.ts";

/** Checks that a matching pod gets a sidecar. Sends one dry run for each configuration and target. */
export async function reachable(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const tried: string[] = [];
  const problems = await inEach(groupsOf(webhooks), async (group): Promise<readonly Problem[]> => {
    const found = await firstRun(group, facts);
    if (found === undefined) return [];
    tried.push(found.run.namespace);
    const report = await JUDGES[found.run.outcome](found.webhook, found.run, facts);
    return report === undefined ? [] : [{ object: configurationRef(found.webhook), result: "error", ...report }];
  });
  if (problems.length > 0) return findingOf(problems);
  if (tried.length === 0) return { result: "skipped", message: "no namespace matches the webhook's selectors" };
  return { result: "ok", message: `confirmed by a dry run in the namespace ${[...new Set(tried)].join(", ")}` };
}

function groupsOf(webhooks: readonly InjectorWebhook[]): InjectorWebhook[][] {
  const active = webhooks.filter(isActive);
  const key = ({ configuration, target }: InjectorWebhook) => JSON.stringify([configuration, target]);
  return distinct(active, key).map((first) => active.filter((webhook) => key(webhook) === key(first)));
}

/** Returns the first dry run of the group. First tries webhooks that are called for a pod without labels. */
async function firstRun(
  group: readonly InjectorWebhook[],
  facts: Facts,
): Promise<{ readonly webhook: InjectorWebhook; readonly run: DryRun } | undefined> {
  const namespaces = await facts.namespaces();
  const isAsked = (webhook: InjectorWebhook) =>
    namespaces.some((namespace) => sendsPod(webhook, labelsOfObject(namespace), newMap()));
  for (const webhook of group.toSorted((a, b) => Number(isAsked(b)) - Number(isAsked(a)))) {
    const run = await facts.dryRun(webhook);
    if (run !== undefined) return { webhook, run };
  }
  return undefined;
}

type Report = Pick<Problem, "message" | "advice">;

type Judged = Report | undefined | Promise<Report | undefined>;

const JUDGES: Readonly<
  Record<DryRun["outcome"], (webhook: InjectorWebhook, run: DryRun, facts: Facts) => Judged>
> = {
  injected: () => undefined,
  "not-injected": notInjected,
  refused: (webhook, run) => {
    if (CONDITION_FAILS.test(run.message)) {
      const advice = corrected(webhook, "its matchConditions");
      return { message: `the API server denies every pod that matches the webhook: ${run.message}`, advice };
    }
    return run.isOfSidecar ? REACHED : cannotTell(`the API server denies a pod in ${where(run)}: ${run.message}`);
  },
  denied: (webhook, run) => {
    if (run.webhook === webhook.name) {
      const advice = [byHand("correct the injector's configuration", "mesh"), ...logged(webhook.target)];
      return { message: `it responds, but denies a pod: ${run.message}`, advice };
    }
    return run.isOfSidecar ? REACHED : cannotTell(`another webhook denies a pod in ${where(run)}: ${run.message}`);
  },
  failed: async (webhook, run, facts) => {
    if (run.webhook !== webhook.name) return cannotTell(`another webhook cannot be called: ${run.message}`);
    return await failed(run.message, run.message, webhook, facts);
  },
};

/** No problem: the webhook was reached. The pod is refused because of its sidecar, which other checks report. */
const REACHED = undefined;

/** The error of a match condition that fails (apiserver/pkg/admission/plugin/webhook/matchconditions). */
const CONDITION_FAILS = /resulted in error/;

function where({ namespace }: DryRun): string {
  return `the namespace "${namespace}"`;
}

/**
 * Explains a pod without a sidecar. With failurePolicy Fail, the webhook skipped the pod or was not called. With Ignore,
 * the webhook may also have failed to respond.
 */
async function notInjected(webhook: InjectorWebhook, run: DryRun, facts: Facts): Promise<Report> {
  const { failurePolicy, name, timeoutSeconds } = webhook;
  const state = `a pod in ${where(run)} is created without a sidecar`;
  await loadConditions();
  const failing = failingCondition(webhook, run, state);
  if (failing !== undefined) return failing;
  if (isUncalled(webhook, run)) {
    return {
      message: `${state}, although failurePolicy is Fail: the API server does not call "${name}"`,
      advice: [
        byHand("enable the admission plugin MutatingAdmissionWebhook in the flags of kube-apiserver"),
        ...logged(webhook.target),
      ],
    };
  }
  if (failurePolicy === "Fail") {
    cannotTell(`${state}: the configuration of "${name}" excludes it, or the API server calls no webhook`);
  }
  if (run.took >= timeoutSeconds * 1000) {
    const shown = `${state} after ${timeoutSeconds} s, the timeout of "${name}"`;
    return await failed("timed out", shown, webhook, facts);
  }
  const message = `${state}: "${name}" does not respond, and failurePolicy Ignore hides the failure`;
  return { message, advice: logged(webhook.target) };
}

/** Reports a match condition that fails; `undefined` if all conditions are true. Otherwise the result is unknown. */
function failingCondition(webhook: InjectorWebhook, { labels, namespace }: DryRun, state: string): Report | undefined {
  const question = { pod: podToTry(labels), namespace, isMade: false };
  const answers = askConditions(webhook.matchConditions, question);
  if (answers.every(({ holding }) => holding === "holds")) return undefined;
  const isSure = answers.every(({ holding }) => holding === "holds" || holding === "fails");
  const failing = answers.find(({ holding }) => holding === "fails");
  if (!isSure || failing === undefined || webhook.failurePolicy === "Fail") {
    return cannotTell(`${state}: the matchConditions of "${webhook.name}" may exclude it`);
  }
  const { condition, why } = failing;
  const message =
    `${state}: the condition "${condition.name}" of "${webhook.name}" fails for the pod, and failurePolicy ` +
    `Ignore hides the failure: ${why}: ${condition.expression}`;
  return { message, advice: corrected(webhook, `its matchConditions, in "${condition.name}"`) };
}

function corrected({ configuration }: InjectorWebhook, what: string): readonly Advice[] {
  const change = `correct ${what}; has() and "in" test whether a field or key exists`;
  return [harmless(change, "webhook", edit(configurationNamed(configuration)))];
}

/** Returns a report with the message `shown`, followed by the meaning of `error`, and with advice for this error. */
async function failed(error: string, shown: string, webhook: InjectorWebhook, facts: Facts): Promise<Report> {
  const { meaning, advice } = explained(error, webhook, await calleeOf(webhook.target, facts));
  return { message: meaning === "" ? shown : `${shown}\n${meaning}`, advice };
}
