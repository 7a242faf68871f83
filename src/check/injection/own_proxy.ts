/** Finds proxies in manifests: sidecars that `inject` wrote, and gateways. New pods have them without a webhook. */
import { parseJson } from "../../base/json.ts";
import { isMap, textAt } from "../../base/value.ts";
import type { KubeApi, KubeObject } from "../../kube/client/mod.ts";
import { annotationsOf, containersOf, findProxy, type Pod, podIn } from "../../inject/mod.ts";
import type { ExpectedPod } from "../inventory/expectations.ts";
import { refOf } from "../advice/commands.ts";
import { clusterTarget, objectTarget, type Target } from "./target.ts";
import { controllerOf, namedOf } from "./workload_advice.ts";

/** The manifest that a user applied. A live pod also contains what webhooks added. */
const APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/** Whether the workload's manifest contains a proxy. False if the manifest of a pod is unknown. */
export function hasOwnProxy({ manifest, row, file }: Target): boolean {
  const pod = podIn(manifest, row);
  return hasProxy(row.kind === "Pod" && file === undefined ? appliedPod(pod) : pod);
}

/** Does the same as `hasOwnProxy`, but reads the controller's manifest for a pod with a controller. Throws a MeshError if it cannot. */
export async function hasOwnProxyIn(api: KubeApi | undefined, target: Target): Promise<boolean> {
  const controller = controllerOf(target);
  if (controller === undefined || target.file !== undefined) return hasOwnProxy(target);
  if (api === undefined) return false;
  const { kind, name, namespace } = controller;
  return hasOwnProxy(await clusterTarget(api, `${kind.toLowerCase()}/${name}`, namespace));
}

/** Returns a function that returns whether the manifest of a pod's workload contains a proxy. */
export function ownProxies(workloads: readonly KubeObject[]): (pod: ExpectedPod) => boolean {
  const names = new Set(workloads.flatMap((object) => {
    const target = objectTarget(object);
    return target !== undefined && hasOwnProxy(target) ? [refOf(namedOf(target))] : [];
  }));
  return ({ pod, owner }) => owner.kind === "Pod" ? hasProxy(appliedPod(pod)) : names.has(refOf(owner));
}

function appliedPod(pod: Pod): Pod {
  const applied = parseJson(textAt(annotationsOf(pod), APPLIED));
  return isMap(applied) ? applied : {};
}

/** Whether a pod has a proxy that can start without injection. The image "auto" needs injection, which replaces it. */
function hasProxy(pod: Pod): boolean {
  const proxy = findProxy(pod);
  return proxy !== undefined && textAt(proxy, "image") !== "auto";
}

/** Returns the field of the pod that contains the proxy. */
export function proxyField(pod: Pod): string {
  const proxy = findProxy(pod);
  const isNative = containersOf(pod, "initContainers").some((each) => each === proxy);
  return isNative ? "spec.initContainers" : "spec.containers";
}
