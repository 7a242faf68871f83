/** Compares live pods with new pods of the same workload. */
import { MeshError } from "../../../base/errors.ts";
import { findProxy, type Injector, injectPod, podOwner, specOf } from "../../../inject/mod.ts";
import type { Pod } from "../../../kube/client/mod.ts";
import { isMap, textAt } from "../../../base/value.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { ObservedPlane } from "../../inventory/control_planes.ts";
import { known } from "../../facts.ts";
import { revisionOf } from "../../inventory/live_pods.ts";
import { PROBE } from "../../inventory/sidecars.ts";
import type { ProblemOf } from "../findings.ts";

/** Reports a pod without a proxy whose workload is injected. */
export function missingProxy({ hasProxy, decision, webhook }: ExpectedPod): ProblemOf | undefined {
  if (hasProxy || known(webhook) === undefined || known(decision)?.inject !== true) return undefined;
  const why = "because the pod is older than the label or the webhook";
  return { result: "error", message: `it has no proxy, but a new pod would get one, ${why}` };
}

/** Reports a proxy that a new pod would not get. A proxy in the workload's own manifest is not reported. */
export function unexpectedProxy(expected: ExpectedPod, isByHand: (pod: ExpectedPod) => boolean): ProblemOf | undefined {
  const { hasProxy, pod } = expected;
  if (!hasProxy || pod.metadata.annotations?.[STATUS] === undefined) return undefined;
  const message = whyNoProxy(expected);
  return message === undefined || isByHand(expected) ? undefined : { result: "warning", message };
}

function whyNoProxy({ decision, webhook }: ExpectedPod): string | undefined {
  if (known(webhook) === undefined) return "it has a proxy, but no webhook is called for new pods";
  const next = known(decision);
  return next?.inject === false ? `it has a proxy, but a new pod would not get one: ${next.message}` : undefined;
}

const STATUS = "sidecar.istio.io/status";

const IMAGES = new WeakMap<Injector, string | undefined>();

/** Reports a proxy whose revision or image differs from the proxies of new pods. */
export function otherProxy({ pod, hasProxy, decision, webhook, plane }: ExpectedPod): ProblemOf | undefined {
  const next = hasProxy ? known(webhook) : undefined;
  if (next === undefined || plane === undefined || known(decision)?.inject !== true) return undefined;
  const message = otherRevision(pod, next.revision) ?? otherImage(pod, plane);
  return message === undefined ? undefined : { result: "warning", message };
}

function otherRevision(pod: Pod, now: string): string | undefined {
  const revision = revisionOf(pod);
  if (revision === null || revision === now) return undefined;
  return `its proxy has the revision "${revision}", but new pods get "${now}"`;
}

function otherImage(pod: Pod, { injector }: ObservedPlane): string | undefined {
  const image = hasOwnTemplate(pod) ? undefined : imageOf(known(injector));
  const has = textAt(findProxy(pod) ?? {}, "image");
  if (image === undefined || has === "" || has === image) return undefined;
  return `its proxy image is "${has}", but new pods get "${image}"`;
}

function imageOf(injector: Injector): string | undefined {
  if (!IMAGES.has(injector)) IMAGES.set(injector, renderedImage(injector));
  return IMAGES.get(injector);
}

/** Returns the proxy's image; `undefined` if the templates cannot be rendered, which another check reports. */
function renderedImage(injector: Injector): string | undefined {
  try {
    const { pod } = injectPod(PROBE, podOwner(PROBE, "default"), injector);
    return textAt(findProxy(pod) ?? {}, "image") || undefined;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

/** Reports pods on the host network. Injectors skip them silently, because capture would affect the node's traffic. */
export function hostNetwork({ pod, webhook }: ExpectedPod): ProblemOf | undefined {
  if (specOf(pod)["hostNetwork"] !== true || known(webhook) === undefined) return undefined;
  return { result: "warning", message: "it uses the host network and is never injected, regardless of its labels" };
}

/** Reports injected Windows pods. Sidecars run only on Linux, but injectors ignore the operating system of a pod. */
export function onWindows({ pod, decision, hasProxy }: ExpectedPod): ProblemOf | undefined {
  const { os, nodeSelector } = specOf(pod);
  const system = textAt(isMap(os) ? os : {}, "name") || textAt(isMap(nodeSelector) ? nodeSelector : {}, OS);
  if (system !== "windows" || (!hasProxy && known(decision)?.inject !== true)) return undefined;
  return { result: "error", message: "it is a Windows pod, which cannot start with a sidecar" };
}

const OS = "kubernetes.io/os";

/** Annotations that change the proxy of a pod. */
const CHOOSING = [
  "inject.istio.io/templates",
  "proxy.istio.io/config",
  "proxy.istio.io/overrides",
  "sidecar.istio.io/proxyImage",
  "sidecar.istio.io/proxyImageType",
];

function hasOwnTemplate({ metadata }: Pod): boolean {
  return CHOOSING.some((name) => metadata.annotations?.[name] !== undefined);
}
