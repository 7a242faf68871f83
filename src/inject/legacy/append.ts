/** Appending what was rendered to the lists of a pod. */
import { mapsAt, type ValueMap } from "../../core/value.ts";
import { type Pod, PROXY, specOf, withSpecKey } from "../pod/pod.ts";
import type { SidecarSpec } from "./sidecar_spec.ts";

const VALIDATION = "istio-validation";

/**
 * The pod with containers, volumes and secrets at the end of its lists; the container that checks the traffic capture, and
 * with `hold` the proxy, go to the front.
 */
export function append(pod: Pod, spec: SidecarSpec, hold: boolean): Pod {
  const front = hold ? [VALIDATION, PROXY] : [VALIDATION];
  return (["initContainers", "containers", "volumes", "imagePullSecrets"] as const).reduce((result, list) => {
    const own = mapsAt(specOf(result), list);
    const all = list === "initContainers" || list === "containers"
      ? inOrder(own, spec[list], front)
      : [...own, ...spec[list]];
    return spec[list].length === 0 ? result : withSpecKey(result, list, all);
  }, pod);
}

function inOrder(own: readonly ValueMap[], added: readonly ValueMap[], front: readonly string[]): ValueMap[] {
  return added.reduce<ValueMap[]>(
    (all, container) => front.includes(String(container["name"])) ? [container, ...all] : [...all, container],
    [...own],
  );
}
