/** Decides from a pod's status whether its capture is broken. */
import { intAt, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { EXIT } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/mod.ts";
import { captureOf } from "../plugin/capture_of.ts";

/**
 * `fine`: the pod does not need capture by the plugin, or does not run. `broken`: istio-validation found traffic that
 * is not captured. `look`: only the rules in the pod's network namespace show whether its traffic is captured.
 */
export type State = "fine" | "broken" | "look";

/** Returns the state of a pod from its status. */
export function stateOf(pod: KubeObject): State {
  const status = mapAt(pod, "status");
  if (pod.metadata["deletionTimestamp"] !== undefined || !captureOf(pod).captured) return "fine";
  const validation = mapsAt(status, "initContainerStatuses").find((each) =>
    textAt(each, "name") === "istio-validation"
  );
  if (validation !== undefined && hasFailed(validation)) return "broken";
  return isOver(pod) || addressesOf(pod).length === 0 ? "fine" : "look";
}

/** Whether the pod has finished, so that its containers do not start again. */
export function isOver(pod: KubeObject): boolean {
  return ["Failed", "Succeeded"].includes(textAt(mapAt(pod, "status"), "phase"));
}

/** Returns the IP addresses of a pod. */
export function addressesOf(pod: KubeObject): string[] {
  const status = mapAt(pod, "status");
  const all = mapsAt(status, "podIPs").map((each) => textAt(each, "ip"));
  return [...new Set([textAt(status, "podIP"), ...all])].filter((text) => text !== "");
}

/** Whether the last finished run of a container exited with code 126. */
function hasFailed(container: ValueMap): boolean {
  const runs = ["state", "lastState"].map((key) => mapAt(mapAt(container, key), "terminated"));
  const finished = runs.find((run) => "exitCode" in run);
  return finished !== undefined && intAt(finished, "exitCode") === EXIT.notCaptured;
}
