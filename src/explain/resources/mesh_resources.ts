/** Finds mesh resources in the API server, and the resources that apply to a workload. */
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import type { Workload } from "./cause.ts";

/** Reads resources with the user's permissions. */
export interface MeshResources {
  /** Returns the objects of a kind in a namespace (empty: all namespaces); `undefined` if they are unreadable. */
  list(kind: string, namespace: string): Promise<readonly ValueMap[] | undefined>;
}

/** Returns the objects that select a workload: from its own namespace first, then from the root namespace. */
export async function resourcesFor(
  resources: MeshResources,
  kind: string,
  { namespace, labels, root }: Workload,
): Promise<readonly ValueMap[]> {
  const found: ValueMap[] = [];
  for (const each of new Set([namespace, root])) {
    const objects = await resources.list(kind, each) ?? [];
    found.push(...objects.filter((object) => selects(object, labels)).sort(byAge));
  }
  return found;
}

/** Returns an object by name; `undefined` if it does not exist or is unreadable. */
export async function resourceAt(
  resources: MeshResources,
  { kind, namespace, name }: Readonly<Record<"kind" | "namespace" | "name", string>>,
): Promise<ValueMap | undefined> {
  if (name === "") return undefined;
  return (await resources.list(kind, namespace))?.find((each) => nameOf(each).name === name);
}

export function nameOf(object: ValueMap): { readonly namespace: string; readonly name: string } {
  const metadata = mapAt(object, "metadata");
  return { namespace: textAt(metadata, "namespace"), name: textAt(metadata, "name") };
}

/** Returns the labels that a resource selects; empty for all workloads of its namespace. */
export function selectorOf(object: ValueMap): ValueMap {
  const { selector, workloadSelector } = mapAt(object, "spec");
  if (isMap(workloadSelector)) return mapAt(workloadSelector, "labels");
  if (!isMap(selector)) return {};
  // The selector of a Gateway contains the labels directly, without matchLabels.
  return isMap(selector["matchLabels"]) ? selector["matchLabels"] : selector;
}

/** Whether a resource selects pods with these labels. */
export function selects(object: ValueMap, labels: Workload["labels"]): boolean {
  return Object.entries(selectorOf(object)).every(([key, value]) => labels[key] === value);
}

/** Sorts the oldest resource first, because Istio uses the oldest of several. */
function byAge(a: ValueMap, b: ValueMap): number {
  const [first, second] = [a, b].map((each) => textAt(mapAt(each, "metadata"), "creationTimestamp"));
  return (first ?? "") < (second ?? "") ? -1 : 1;
}
