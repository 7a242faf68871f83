/** Advises how to change the result of an explanation. */
import { LABEL } from "../../istio/annotations/labels.ts";
import { type Advice, byHand, type Fix, look, type Step } from "../advice/advice.ts";
import { shows } from "../advice/commands.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { differences } from "./differences.ts";
import type { Misplaced } from "./misplaced.ts";
import type { Cause } from "./not_called.ts";
import type { Target } from "./target.ts";
import type { Verdict } from "./verdict.ts";
import { changePod, ownNetwork, recreate } from "./workload_advice.ts";

const mesh = (...words: readonly string[]): Step => shows("mesh", "check", ...words);

const ask = (target: Target) => [changePod(target, { of: "labels", key: LABEL.inject, value: "true" })];

/** Advice for the stable id of a verdict's reason. Other reasons, such as a system namespace, have no fix. */
const BY_REASON: Readonly<Record<string, (target: Target) => readonly Advice[]>> = {
  "label-inject-false": (target) => [changePod(target, { of: "labels", key: LABEL.inject, value: null })],
  "annotation-inject-false": (target) => [changePod(target, { of: "annotations", key: LABEL.inject, value: null })],
  "never-inject-selector": ask,
  "policy-disabled": ask,
  "pod-host-network": (target) => [ownNetwork(target)],
  "api-server-refuses": (
    { namespace },
  ) => [look("see which policies refuse injected pods", mesh("security", "-n", namespace))],
  "webhook-fails": () => [look("see why the webhook fails", mesh("webhook"))],
  "webhook-without-effect": () => [look("see why the webhook has no effect", mesh("webhook"))],
  "webhooks-unknown": () => [look("see the needed rights", mesh("--rbac"))],
  "configuration-unknown": () => [look("see the configuration", mesh("injector-configuration"))],
  "match-condition": () => [byHand("change the pod or the condition so that the condition is true", "workload")],
  "match-condition-fails": () => [byHand("correct the matchConditions of the webhook", "webhook")],
  "match-condition-unknown": () => [look("see whether the API server calls the webhook", mesh("webhook"))],
};

export function adviceByReason(reason: string, target: Target): readonly Advice[] {
  return BY_REASON[reason]?.(target) ?? [];
}

/** A workload, its verdict, and the data that decides the advice. */
export interface Explained {
  readonly target: Target;
  readonly verdict: Verdict;
  readonly cause: Cause;
  readonly misplaced: readonly Misplaced[];
  readonly live: readonly LivePod[];
}

/** Causes that a label of the pod cannot change. */
const NOT_ASKED: readonly string[] = ["pod-host-network", "ignored-namespace", "no-webhook", "namespace-excluded"];

/** Returns a fix for the result and a fix for a misplaced label. If one change solves both, returns only one fix. */
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
    ...verdict.injecting.length < 2 ? [] : [{
      objects,
      alternatives: [look("see which webhooks inject the workload", mesh("--only", "webhook-overlap"))],
    }],
  ].filter(({ alternatives }) => alternatives.length > 0);
}

function inviting(all: readonly Advice[], { namespace }: Target): readonly Advice[] {
  return all.map((each) =>
    each.reach === "nothing" || each.risk === "takes-out" ? each : { ...each, namespace, invites: true }
  );
}

/**
 * Returns advice to change the result:
 *
 * | new pod      | live pods         | advice                                                  |
 * |--------------|-------------------|---------------------------------------------------------|
 * | injected     | the same          | no advice                                               |
 * | injected     | different         | recreate the pods                                       |
 * | not injected | any               | inject the workload, and recreate pods without a proxy  |
 * | not injected | some have a proxy | also: recreate the pods, which then lose their proxy    |
 */
function resultAdvice({ target, verdict, cause, live }: Explained): readonly Advice[] {
  const again = recreate(target, live);
  if (verdict.verdict === "injected") return differences(verdict, live).length > 0 ? again : [];
  const [renewal] = live.some(({ proxy }) => !proxy) ? again : [];
  const joining = cause.advice.map((each) => {
    return each.reach === "namespace" ? { ...each, steps: [...each.steps, ...renewal?.steps ?? []] } : each;
  });
  const leaving = verdict.verdict === "not-injected" && live.some(({ proxy }) => proxy) ? again : [];
  return [
    ...joining,
    ...leaving.map((each): Advice => ({
      ...each,
      change: `remove the workload from the mesh: ${each.change}`,
      risk: "takes-out",
      namespace: target.namespace,
    })),
  ];
}
