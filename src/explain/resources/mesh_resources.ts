/** The resources of the mesh in the API server, and which of them are for a workload. */
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import type { Workload } from "./cause.ts";

/** Reads resources with the user's rights. */
export interface MeshResources {
  /** The objects of a kind in a namespace, empty for all namespaces; a string says why they cannot be read. */
  list(kind: string, namespace: string): Promise<readonly ValueMap[] | string>;
}

/** The objects in the namespaces that count for a workload: its own first, then the root namespace. */
export async function resourcesFor(
  resources: MeshResources,
  kind: string,
  { namespace, labels, root }: Workload,
): Promise<readonly ValueMap[]> {
  const found: ValueMap[] = [];
  for (const each of new Set([namespace, root])) {
    const objects = await resources.list(kind, each);
    if (typeof objects !== "string") found.push(...objects.filter((object) => selects(object, labels)).sort(byAge));
  }
  return found;
}

/** An object by its name; `undefined` if it is gone or cannot be read. */
export async function resourceAt(
  resources: MeshResources,
  { kind, namespace, name }: Readonly<Record<"kind" | "namespace" | "name", string>>,
): Promise<ValueMap | undefined> {
  if (name === "") return undefined;
  const objects = await resources.list(kind, namespace);
  return typeof objects === "string" ? undefined : objects.find((each) => nameOf(each).name === name);
}

export function nameOf(object: ValueMap): { readonly namespace: string; readonly name: string } {
  const metadata = mapAt(object, "metadata");
  return { namespace: textAt(metadata, "namespace"), name: textAt(metadata, "name") };
}

/** The labels that a resource asks for; empty: it is for all workloads of its namespace. */
export function selectorOf(object: ValueMap): ValueMap {
  const { selector, workloadSelector } = mapAt(object, "spec");
  if (isMap(workloadSelector)) return mapAt(workloadSelector, "labels");
  if (!isMap(selector)) return {};
  // A Gateway has the labels themselves.
  return isMap(selector["matchLabels"]) ? selector["matchLabels"] : selector;
}

function selects(object: ValueMap, labels: Workload["labels"]): boolean {
  return Object.entries(selectorOf(object)).every(([key, value]) => labels[key] === value);
}

/** Istio takes the oldest of several. */
function byAge(a: ValueMap, b: ValueMap): number {
  const [first, second] = [a, b].map((each) => textAt(mapAt(each, "metadata"), "creationTimestamp"));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
