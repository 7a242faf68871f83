/** The number of the proxy's threads: old templates leave it to the injector where the mesh does not say it. */
import { parseQuantity, scaledValue } from "../../core/kube/mod.ts";
import { mapAt, type ValueMap } from "../../core/value.ts";
import { withKey } from "../pod/pod.ts";
import { argumentsOf, flagValue } from "./arguments.ts";

/**
 * The proxy with `--concurrency` for its CPU limit, else its CPU request, rounded up to whole CPUs; the same container if
 * its arguments have one above 0, or if it has neither.
 */
export function withConcurrency(proxy: ValueMap): ValueMap {
  if (Number(flagValue(proxy, "concurrency") ?? 0) > 0) return proxy;
  const resources = mapAt(proxy, "resources");
  const cpus = wholeCpus(mapAt(resources, "limits")) || wholeCpus(mapAt(resources, "requests"));
  return cpus === 0 ? proxy : withKey(proxy, "args", [...argumentsOf(proxy), "--concurrency", String(cpus)]);
}

function wholeCpus(quantities: ValueMap): number {
  const quantity = parseQuantity(String(quantities["cpu"] ?? "0"));
  return quantity === undefined ? 0 : Math.max(0, Math.ceil(Number(scaledValue(quantity, -3)) / 1000));
}
