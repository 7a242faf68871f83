/** Advises how to change the result of an explanation. */
import { LABEL } from "../../istio/annotations/labels.ts";
import { type Advice, byHand, type Fix, look, type Step } from "../advice/advice.ts";
import { shows } from "../advice/commands.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { differences } from "./differences.ts";
import type { Misplaced } from "./misplaced.ts";
import type { Cause } from "./not_called.ts";
import type { Target } from "./target.ts";
import { IN_MANIFEST, type Verdict } from "./verdict.ts";
import { changePod, controllerOf, ownNetwork, recreate, withoutSidecar } from "./workload_advice.ts";

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
  if (verdict.verdict !== "injected" && verdict.reason !== IN_MANIFEST && asks) {
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
 * | in manifest  | the same          | take the sidecar out of the manifest                    |
 * | in manifest  | different         | also: recreate the pods                                 |
 * | not injected | any               | inject the workload, and recreate pods without a proxy  |
 * | not injected | some have a proxy | also: recreate the pods, which then lose their proxy    |
 */
function resultAdvice({ target, verdict, cause, live }: Explained): readonly Advice[] {
  const again = recreate(target, live);
  const renewed = differences(verdict, live).length > 0 ? again : [];
  if (verdict.verdict === "injected") return renewed;
  if (verdict.reason === IN_MANIFEST) return [...renewed, ...leaving(withoutSidecar(target, live), target)];
  const [renewal] = live.some(({ proxy }) => !proxy) ? again : [];
  const joining = cause.advice.map((each) => {
    return each.reach === "namespace" ? { ...each, steps: [...each.steps, ...renewal?.steps ?? []] } : each;
  });
  if (verdict.verdict !== "not-injected" || !live.some(({ proxy }) => proxy)) return joining;
  // A pod without a controller is recreated from its live object, which contains the sidecar.
  const isAlone = target.row.kind === "Pod" && controllerOf(target) === undefined;
  return [...joining, ...leaving(isAlone ? withoutSidecar(target, live) : again, target)];
}

function leaving(all: readonly Advice[], { namespace }: Target): readonly Advice[] {
  return all.map((each): Advice => {
    if (each.reach === "nothing") return each;
    return { ...each, change: `remove the workload from the mesh: ${each.change}`, risk: "takes-out", namespace };
  });
}
