/** The environment and the arguments of a container, as the kubelet makes them from the pod. */
import { parseQuantity } from "../../../../../src/kube/text/quantity.ts";
import type { Pod } from "../../../../../src/kube/client/mod.ts";

/** A container of a pod, with the fields that these tests use. */
export type Container = NonNullable<NonNullable<Pod["spec"]>["containers"]>[number];

/** The resources of the node for a container without limits: one processor, one GiB. */
const ALLOCATABLE: Readonly<Record<string, string>> = { "limits.cpu": "1", "limits.memory": "1Gi" };

/** The variables, in their order. A later one may name an earlier one: `$(NAME)`. */
export function environmentOf(pod: Pod, container: Container): Record<string, string> {
  const env: Record<string, string> = {};
  for (const { name = "", value, valueFrom } of container.env ?? []) {
    const path = valueFrom?.fieldRef?.fieldPath;
    const resource = valueFrom?.resourceFieldRef;
    if (path !== undefined) env[name] = fieldText(pod, path);
    else if (resource !== undefined) env[name] = resourceText(container, resource.resource ?? "", resource.divisor);
    else env[name] = expanded(value ?? "", env);
  }
  return env;
}

/** The arguments after the entry point of the image, or instead of it. */
export function argumentsOf(container: Container, entry: readonly string[], env: Record<string, string>): string[] {
  return [...container.command ?? entry, ...container.args ?? []].map((text) => expanded(text, env));
}

/** `$(NAME)` becomes the value, `$$` a dollar; an unknown name stays. Source: Kubernetes' third_party/forked/golang/expansion. */
export function expanded(text: string, env: Readonly<Record<string, string>>): string {
  return text.replaceAll(/\$(\$|\(([^)]*)\))/g, (whole, what, name) => what === "$" ? "$" : env[name] ?? whole);
}

/** A field by its path: `metadata.name`, `metadata.labels['app']`, `metadata.annotations`. */
export function fieldText(pod: Pod, path: string): string {
  const parts = path.replace(/\['([^']*)'\]$/, "\0$1").split("\0");
  const names = [...(parts[0] ?? "").split("."), ...parts.slice(1)];
  const found = names.reduce<unknown>((value, name) => {
    return typeof value === "object" && value !== null ? Reflect.get(value, name) : undefined;
  }, pod);
  return typeof found === "object" ? mapText(found) : String(found ?? "");
}

/** A map as a file of the downward API: a line for each key, with the value as a Go string. */
function mapText(map: object | null): string {
  return Object.entries(map ?? {}).map(([key, value]) => `${key}=${JSON.stringify(value)}`).toSorted().join("\n");
}

function resourceText(container: Container, resource: string, divisor = "1"): string {
  const kind = resource.replace("limits.", "");
  const limit = container.resources?.limits?.[kind] ?? ALLOCATABLE[resource] ?? "0";
  return String(Math.ceil(amount(limit) / (divisor === "0" ? 1 : amount(divisor))));
}

function amount(text: string): number {
  const quantity = parseQuantity(text);
  if (quantity === undefined) throw new Error(`"${text}" is no quantity`);
  return Number(quantity.mantissa) * 10 ** quantity.scale;
}
