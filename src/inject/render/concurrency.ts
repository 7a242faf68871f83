/** Computes `.EstimatedConcurrency`, the number of Envoy's threads, for templates of Istio 1.11 to 1.17. */
import { parseQuantity, scaledValue } from "../../kube/mod.ts";
import { intAt, mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { annotation, type Pod } from "../pod/pod.ts";

const DEFAULT = 2;

/**
 * Returns the concurrency in the proxy configuration. If it is 0, returns the CPU limit (or the CPU request) from the pod's
 * annotations or the values, rounded up. Source: estimateConcurrency of Istio 1.17.
 */
export function estimatedConcurrency(pod: Pod, proxyConfig: ValueMap, values: ValueMap): number {
  const configured = intAt(proxyConfig, "concurrency");
  if (configured !== 0) return configured === undefined || configured < 0 ? DEFAULT : configured;
  const annotated = annotation(pod, ANNOTATION.proxyCpuLimit) ?? annotation(pod, ANNOTATION.proxyCpu);
  if (annotated !== undefined) return processorsOf(annotated) ?? DEFAULT;
  const resources = mapAt(mapAt(mapAt(values, "global"), "proxy"), "resources");
  const [limit, request] = ["limits", "requests"].map((key) => processorsOf(mapAt(resources, key)["cpu"]));
  return limit ?? request ?? DEFAULT;
}

function processorsOf(cpu: Value | undefined): number | undefined {
  const quantity = cpu === undefined || cpu === null ? undefined : parseQuantity(String(cpu));
  return quantity === undefined ? undefined : Number(scaledValue(quantity, 0));
}
