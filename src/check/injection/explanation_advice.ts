/** What changes the result of an explanation. */
import { type Advice, byHand, type Fix, look, type Step } from "../advice/advice.ts";
import { shows } from "../advice/commands.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { differences } from "./differences.ts";
import type { Misplaced } from "./misplaced.ts";
import type { Cause } from "./not_called.ts";
import type { Target } from "./target.ts";
import type { Verdict } from "./verdict.ts";
import { decisionFix, recreate } from "./workload_advice.ts";

const mesh = (...words: readonly string[]): Step => shows("mesh", "check", ...words);

/** Advice for reasons that are no decision of the injector. */
const BY_REASON: Readonly<Record<string, (target: Target) => readonly Advice[]>> = {
  "api-server-refuses": ({ namespace }) => [look("see what refuses injected pods", mesh("security", "-n", namespace))],
  "webhook-fails": () => [look("see why the webhook fails", mesh("webhook"))],
  "webhook-without-effect": () => [look("see why the webhook has no effect", mesh("webhook"))],
  "webhooks-unknown": () => [look("see the rights that are needed", mesh("--rbac"))],
  "configuration-unknown": () => [look("see the configuration", mesh("injector-configuration"))],
  "match-condition": () => [byHand("change the pod so that the condition holds, or the condition", "workload")],
  "match-condition-fails": () => [byHand("correct the matchConditions of the webhook", "webhook")],
  "match-condition-unknown": () => [look("see what the API server does with such a pod", mesh("webhook"))],
};

/** What to do about a verdict, by its stable id. */
export function adviceByReason(reason: string, target: Target): readonly Advice[] {
  return BY_REASON[reason]?.(target) ?? decisionFix(reason, target);
}

/** All that is known of a workload. */
export interface Explained {
  readonly target: Target;
  readonly verdict: Verdict;
  readonly cause: Cause;
  readonly misplaced: readonly Misplaced[];
  readonly live: readonly LivePod[];
}

/** Causes that the label of the pod cannot change. */
const NOT_ASKED: readonly string[] = ["pod-host-network", "ignored-namespace", "no-webhook", "namespace-excluded"];

/** The fixes: one for the result, one for a label that is misplaced, unless the same change heals both. */
export function fixesFor(explained: Explained): readonly Fix[] {
  const { target, verdict, cause, misplaced } = explained;
  const objects = [target.workload];
  const moved = misplaced.flatMap(({ advice }) => advice);
  const asks = misplaced.some(({ value }) => value === "true") && !NOT_ASKED.includes(cause.reason);
  if (verdict.verdict !== "injected" && asks) {
    return [{ objects, alternatives: inviting([...moved, ...resultAdvice(explained)], target) }];
  }
  return [
    { objects, alternatives: moved },
    { objects, alternatives: inviting(resultAdvice(explained), target) },
    ...verdict.injecting.length < 2
      ? []
      : [{ objects, alternatives: [look("see which webhooks inject it", mesh("--only", "webhook-overlap"))] }],
  ].filter(({ alternatives }) => alternatives.length > 0);
}

/** Marks advice that gives the workload a proxy. */
function inviting(all: readonly Advice[], { namespace }: Target): readonly Advice[] {
  return all.map((each) =>
    each.reach === "nothing" || each.risk === "takes-out" ? each : { ...each, namespace, invites: true }
  );
}

/**
 * | new pod      | live pods         | advice                                                  |
 * |--------------|-------------------|---------------------------------------------------------|
 * | injected     | as it             | none                                                    |
 * | injected     | differ            | recreate them                                           |
 * | not injected | all               | what makes it injected; pods without proxy are recreated |
 * | not injected | some have a proxy | also: recreate them, which takes them out               |
 */
function resultAdvice({ target, verdict, cause, live }: Explained): readonly Advice[] {
  const again = recreate(target, live);
  if (verdict.verdict === "injected") return differences(verdict, live).length > 0 ? again : [];
  const [renewal] = live.some(({ hasProxy }) => !hasProxy) ? again : [];
  const joining = cause.advice.map((each) => {
    return each.reach === "namespace" ? { ...each, steps: [...each.steps, ...renewal?.steps ?? []] } : each;
  });
  const leaving = verdict.verdict === "not-injected" && live.some(({ hasProxy }) => hasProxy) ? again : [];
  return [
    ...joining,
    ...leaving.map((each): Advice => ({
      ...each,
      change: `let it leave the mesh: ${each.change}`,
      risk: "takes-out",
      namespace: target.namespace,
    })),
  ];
}
