/** Live pods against what would become of them if they were made now. */
import { MeshError } from "../../../core/errors.ts";
import { annotationIn, hasOwnTemplate } from "./own_settings.ts";
import { findProxy, type Injector, injectPod, podOwner, specOf } from "../../../inject/mod.ts";
import type { Pod } from "../../../core/kube/client/mod.ts";
import { textAt } from "../../../core/value.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import type { ObservedPlane } from "../../inventory/control_planes.ts";
import { isKnown } from "../../inventory/mod.ts";
import { revisionOf } from "../../inventory/live_pods.ts";
import type { PodProblem } from "./pod_problem.ts";

/** Older than the label or the webhook, or made while the webhook was down. */
export function missingProxy({ hasProxy, decision, webhook }: ExpectedPod): PodProblem | undefined {
  if (hasProxy || decision?.inject !== true || webhook === undefined) return undefined;
  const message = `it has no proxy, but a new pod would get one: it is older than the label or the webhook`;
  return { result: "error", message };
}

/** The next pod has none, and nobody notices before the next rollout. A proxy that was written into the workload stays. */
export function unexpectedProxy(expected: ExpectedPod, isByHand: boolean): PodProblem | undefined {
  const { hasProxy, decision, webhook, plane, pod } = expected;
  if (!hasProxy || isByHand || annotationIn(pod, STATUS) === undefined) return undefined;
  if (webhook === undefined) {
    return { result: "warning", message: "it has a proxy, but no webhook is called for new pods" };
  }
  if (plane === undefined || decision === undefined || decision.inject) return undefined;
  return { result: "warning", message: `it has a proxy, but a new pod would get none: ${decision.message}` };
}

const STATUS = "sidecar.istio.io/status";

/** By control plane: the proxy of a pod without settings of its own. */
const IMAGES = new WeakMap<Injector, string | undefined>();

/** A proxy of another control plane, or of an earlier configuration of this one. */
export function otherProxy({ pod, hasProxy, decision, webhook, plane }: ExpectedPod): PodProblem | undefined {
  if (!hasProxy || decision?.inject !== true || webhook === undefined || plane === undefined) return undefined;
  const message = otherRevision(pod, webhook.revision) ?? otherImage(pod, plane);
  return message === undefined ? undefined : { result: "warning", message };
}

function otherRevision(pod: Pod, now: string): string | undefined {
  const revision = revisionOf(pod);
  if (revision === null || revision === now) return undefined;
  return `its proxy has the revision "${revision}", new pods get "${now}"`;
}

function otherImage(pod: Pod, { injector }: ObservedPlane): string | undefined {
  const image = !isKnown(injector) || hasOwnTemplate(pod) ? undefined : imageOf(injector.value);
  const has = textAt(findProxy(pod) ?? {}, "image");
  if (image === undefined || has === "" || has === image) return undefined;
  return `its proxy is "${has}", new pods get "${image}"`;
}

const PROBE = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "app", namespace: "default", labels: {}, annotations: {} },
  spec: { containers: [{ name: "app", image: "app" }] },
};

function imageOf(injector: Injector): string | undefined {
  if (!IMAGES.has(injector)) IMAGES.set(injector, renderedImage(injector));
  return IMAGES.get(injector);
}

/** `undefined` where the templates cannot be rendered, which other checks tell. */
function renderedImage(injector: Injector): string | undefined {
  try {
    const { pod } = injectPod(PROBE, podOwner(PROBE, "default"), injector);
    return textAt(findProxy(pod) ?? {}, "image") || undefined;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

/** Such pods are left out silently: capturing their traffic would capture the node's. */
export function hostNetwork({ pod, webhook }: ExpectedPod): PodProblem | undefined {
  if (webhook === undefined || specOf(pod)["hostNetwork"] !== true) return undefined;
  return {
    result: "warning",
    message: "it uses the host network and is never injected, whatever its labels are",
  };
}
