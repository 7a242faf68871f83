/** What the API says about the capture of a pod. */
import { intAt, mapAt, mapsAt, textAt, valueAt, type ValueMap } from "../../base/value.ts";
import { EXIT } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { captureOf } from "../plugin/capture_of.ts";

/**
 * `fine`: it needs no capture by the plugin, or has none to lose. `broken`: istio-validation found traffic that escapes.
 * `look`: only its network namespace can say.
 */
export type State = "fine" | "broken" | "look";

/** The state of a pod by its status. */
export function stateOf(pod: KubeObject): State {
  const status = mapAt(pod, "status");
  if (pod.metadata["deletionTimestamp"] !== undefined || !captureOf(pod).captured) return "fine";
  const validation = mapsAt(status, "initContainerStatuses").find((each) =>
    textAt(each, "name") === "istio-validation"
  );
  if (validation !== undefined && hasFailed(validation)) return "broken";
  return isOver(pod) || addressesOf(pod).length === 0 ? "fine" : "look";
}

/** Whether none of its containers starts again. */
export function isOver(pod: KubeObject): boolean {
  return ["Failed", "Succeeded"].includes(textAt(mapAt(pod, "status"), "phase"));
}

/** The pod's addresses. */
export function addressesOf(pod: KubeObject): string[] {
  const status = mapAt(pod, "status");
  const all = mapsAt(status, "podIPs").map((each) => textAt(each, "ip"));
  return [...new Set([textAt(status, "podIP"), ...all])].filter((text) => text !== "");
}

/** Whether its last run ended with 126, unless the current one is fine. A pod that restarts nothing has only that run. */
function hasFailed(container: ValueMap): boolean {
  const now = valueAt(container, "state", "terminated");
  const before = valueAt(container, "lastState", "terminated");
  if (isTerminated(now)) return intAt(now, "exitCode") === EXIT.notCaptured;
  return isTerminated(before) && intAt(before, "exitCode") === EXIT.notCaptured;
}

function isTerminated(value: unknown): value is ValueMap {
  return typeof value === "object" && value !== null;
}
