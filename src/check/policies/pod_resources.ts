/** Computes the resources that a pod requests, in thousandths. */
import { parseQuantity, quantityText, scaledValue } from "../../kube/mod.ts";
import { mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { allContainers, containersOf, type Pod } from "../../inject/mod.ts";

export type Side = "requests" | "limits";

/** Amounts of resources. The keys are names such as `requests.cpu` and `limits.memory`. */
export type Amounts = ReadonlyMap<string, bigint>;

const SIDES: readonly Side[] = ["requests", "limits"];
const MILLI = -3;

/** Parses a quantity into thousandths; `undefined` if it is invalid. */
export function milliOf(value: Value | undefined): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return undefined;
  const quantity = parseQuantity(String(value));
  return quantity === undefined ? undefined : scaledValue(quantity, MILLI);
}

/** Formats an amount. Memory uses binary units such as `Mi`. */
export function amountText(milli: bigint, resource: string): string {
  const format = /memory|storage/.test(resource) ? "binary" : "decimal";
  return quantityText({ mantissa: milli, scale: MILLI, format, keptText: undefined });
}

/** Returns the requests and limits of a container. As in Kubernetes, a missing request defaults to the limit. */
export function amountsOf(container: ValueMap): Amounts {
  const resources = mapAt(container, "resources");
  const amounts = new Map<string, bigint>();
  for (const side of SIDES) {
    for (const [name, value] of Object.entries(mapAt(resources, side))) {
      const milli = milliOf(value);
      if (milli !== undefined) amounts.set(`${side}.${name}`, milli);
    }
  }
  for (const [name, milli] of [...amounts]) {
    const request = name.replace(/^limits\./, "requests.");
    if (!amounts.has(request)) amounts.set(request, milli);
  }
  return amounts;
}

/**
 * Computes the effective resources of a pod (Kubernetes, "Sidecar Containers"). Concurrent containers add up, and an
 * init container runs together with the sidecars that started before it.
 */
export function podAmounts(pod: Pod, amounts: (container: ValueMap) => Amounts = amountsOf): Amounts {
  let running: Amounts = new Map();
  let most: Amounts = new Map();
  for (const container of containersOf(pod, "initContainers")) {
    const together = combine(running, amounts(container), (a, b) => a + b);
    if (container["restartPolicy"] === "Always") running = together;
    most = combine(most, together, larger);
  }
  for (const container of containersOf(pod, "containers")) {
    running = combine(running, amounts(container), (a, b) => a + b);
  }
  return combine(most, running, larger);
}

export function containersByName(pod: Pod): ReadonlyMap<string, ValueMap> {
  return new Map(allContainers(pod).map((container) => [String(container["name"]), container]));
}

function larger(a: bigint, b: bigint): bigint {
  return a > b ? a : b;
}

function combine(a: Amounts, b: Amounts, join: (a: bigint, b: bigint) => bigint): Amounts {
  const names = new Set([...a.keys(), ...b.keys()]);
  return new Map([...names].map((name) => [name, join(a.get(name) ?? 0n, b.get(name) ?? 0n)]));
}
