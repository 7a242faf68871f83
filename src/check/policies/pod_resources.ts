/** The resources that a pod requests, in thousandths. */
import { parseQuantity, quantityText, scaledValue } from "../../kube/mod.ts";
import { mapAt, type Value, type ValueMap } from "../../base/value.ts";
import { allContainers, containersOf, type Pod } from "../../inject/mod.ts";

/** The two tables of a container's resources. */
export type Side = "requests" | "limits";

/** Amounts of a container by `requests.cpu`, `limits.memory`, and so on. */
export type Amounts = ReadonlyMap<string, bigint>;

const SIDES: readonly Side[] = ["requests", "limits"];
const MILLI = -3;

/** A quantity in thousandths; `undefined` if invalid. */
export function milliOf(value: Value | undefined): bigint | undefined {
  if (typeof value !== "string" && typeof value !== "number" && typeof value !== "bigint") return undefined;
  const quantity = parseQuantity(String(value));
  return quantity === undefined ? undefined : scaledValue(quantity, MILLI);
}

/** The text of an amount: memory in powers of two. */
export function amountText(milli: bigint, resource: string): string {
  const format = /memory|storage/.test(resource) ? "binary" : "decimal";
  return quantityText({ mantissa: milli, scale: MILLI, format, keptText: undefined });
}

/** The requests and limits of a container. A limit is the default of its request, as in Kubernetes. */
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
 * The effective resources of a pod (Kubernetes, "Sidecar Containers"): concurrent containers add up, an init container
 * runs beside the sidecars started before it.
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

/** All containers of a pod, by name. */
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
