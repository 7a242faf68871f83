/** `.EstimatedConcurrency` of templates of 1.11 to 1.17: the number of Envoy's threads. */
import { parseQuantity, scaledValue } from "../../kube/mod.ts";
import { intAt, mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { ANNOTATION } from "../../istio/mod.ts";
import { annotation, type Pod } from "../pod/pod.ts";

const DEFAULT = 2;

/**
 * The concurrency of the proxy configuration. If that is 0: the limit or else the request of processors, in the annotations or
 * else in the values, rounded up. Source: estimateConcurrency of Istio 1.17.
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
