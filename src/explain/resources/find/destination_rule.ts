/** Finds the deciding field of a DestinationRule: a traffic policy, or the labels of a subset. */
import { intAt, isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, valueAtPath } from "../change.ts";
import { type MeshResources, nameOf } from "../mesh_resources.ts";

const TEXTS = {
  tls: "remove FIELD, so that Istio detects the TLS mode of the server",
  connectionPool: "raise or remove FIELD",
  outlierDetection: "change or remove FIELD",
} as const;

/** Finds the traffic policy. Order: the subset's port, the subset, the rule's port, the rule (see "TrafficPolicy"). */
export function trafficPolicy(
  object: ValueMap,
  { part, port, subset }: Extract<Search, { by: "policy" }>,
): Finding | undefined {
  const at = subsetIndex(object, subset);
  const policies: Path[] = [...at < 0 ? [] : [["spec", "subsets", at, "trafficPolicy"]], ["spec", "trafficPolicy"]];
  for (const policy of policies) {
    const found = partOf(object, policy, part, port);
    if (found === undefined) continue;
    return finding(object, found, { text: TEXTS[part], op: "remove" });
  }
  return undefined;
}

function partOf(object: ValueMap, policy: Path, part: string, port: number): Path | undefined {
  const value = valueAtPath(object, policy);
  if (!isMap(value)) return undefined;
  const index = mapsAt(value, "portLevelSettings").findIndex((each) => intAt(mapAt(each, "port"), "number") === port);
  const ofPort: Path = [...policy, "portLevelSettings", index, part];
  if (index >= 0 && isMap(valueAtPath(object, ofPort))) return ofPort;
  return isMap(value[part]) ? [...policy, part] : undefined;
}

function subsetIndex(object: ValueMap, subset: string): number {
  return mapsAt(mapAt(object, "spec"), "subsets").findIndex((each) => textAt(each, "name") === subset);
}

/** Finds the labels of a subset without pods. Suggests the labels of the Service's pods if all have the same values. */
export async function subsetLabels(
  resources: MeshResources,
  object: ValueMap,
  { subset }: Extract<Search, { by: "labels" }>,
): Promise<Finding | undefined> {
  const at = subsetIndex(object, subset);
  if (at < 0) return undefined;
  const path: Path = ["spec", "subsets", at, "labels"];
  const wanted = valueAtPath(object, path);
  const labels = await sharedLabels(resources, object, isMap(wanted) ? Object.keys(wanted) : []);
  const text = "correct FIELD, or add these labels to ready pods";
  return finding(object, path, labels === undefined ? { text } : { text, op: "replace", value: labels });
}

/** Returns the values of these labels, if all pods of the rule's Service have the same values. */
async function sharedLabels(
  resources: MeshResources,
  object: ValueMap,
  keys: readonly string[],
): Promise<Readonly<Record<string, string>> | undefined> {
  const [name = "", namespace = nameOf(object).namespace] = textAt(mapAt(object, "spec"), "host").split(".");
  const [services, pods] = [await resources.list("Service", namespace), await resources.list("Pod", namespace)];
  const service = services?.find((each) => nameOf(each).name === name);
  const selector = Object.entries(mapAt(mapAt(service ?? {}, "spec"), "selector"));
  if (pods === undefined || selector.length === 0) return undefined;
  const labels = pods.map((pod) => mapAt(mapAt(pod, "metadata"), "labels")).filter((own) =>
    selector.every(([key, value]) => own[key] === value)
  );
  const values = new Map(labels.map((own) => {
    const some = Object.fromEntries(keys.map((key) => [key, textAt(own, key)]));
    return [JSON.stringify(some), some];
  }));
  const [only] = values.values();
  return values.size === 1 && only !== undefined && !Object.values(only).includes("") ? only : undefined;
}
