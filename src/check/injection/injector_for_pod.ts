/** Adapts the injector of a control plane to one pod, as its webhook does. */
import { textAt } from "../../base/value.ts";
import {
  type Injector,
  nativeByNodes,
  nativeForPod,
  type NativeNodes,
  type Pod,
  specOf,
  urlSettings,
} from "../../inject/mod.ts";
import type { InjectorWebhook } from "../inventory/injector_webhooks.ts";
import { isKnown, type Observed, reason } from "../inventory/observed.ts";

/** Applies the settings in the webhook's URL, and native sidecars if the nodes support them. */
export function injectorForPod(
  injector: Injector,
  pod: Pod,
  webhook: InjectorWebhook | undefined,
  nodes: Observed<NativeNodes> | undefined,
): Injector {
  const known = nodes !== undefined && isKnown(nodes) ? nodes.value : undefined;
  const isByNodes = nativeByNodes(injector.nodesAsked, known, textAt(specOf(pod), "nodeName"));
  return {
    ...injector,
    nativeSidecars: injector.nativeSidecars || isByNodes,
    proxyEnvs: { ...injector.proxyEnvs, ...webhook === undefined ? {} : urlSettings(pathOf(webhook)) },
  };
}

function pathOf({ target }: InjectorWebhook): string {
  return "url" in target ? URL.parse(target.url)?.pathname ?? "" : target.path;
}

/** Returns why the nodes are unknown, if they decide whether the pod's sidecar is native. */
export function nodesDoubt(
  injector: Injector,
  pod: Pod,
  nodes: Observed<NativeNodes> | undefined,
): string | undefined {
  if (nodes === undefined || isKnown(nodes) || injector.nodesAsked === "never") return undefined;
  const isSetByPod = nativeForPod(pod, true) === nativeForPod(pod, false);
  return isSetByPod ? undefined : reason(nodes);
}
