/** Finds the Sidecar that hides a Service from a workload, blocks unknown destinations, or redirects a port. */
import { intAt, mapAt, mapsAt, textsAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, valueAtPath } from "../change.ts";
import { type MeshResources, resourceAt, resourcesFor, selectorOf } from "../mesh_resources.ts";
import { covers } from "./hosts.ts";

/**
 * Finds the Sidecar that applies: the Sidecar that selects the workload by labels, or else the Sidecar of the
 * namespace, or else the Sidecar of the root namespace (Istio, "Sidecar").
 */
export async function sidecarEgress(
  resources: MeshResources,
  { workload, hosts }: Extract<Search, { by: "egress" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, "Sidecar", workload);
  const object = all.find((each) => Object.keys(selectorOf(each)).length > 0) ?? all[0];
  if (object === undefined) return undefined;
  const hidden = await hiddenService(resources, object, workload.namespace, hosts);
  if (hidden !== undefined) return hidden;
  const path = ["spec", "outboundTrafficPolicy", "mode"];
  if (valueAtPath(object, path) !== "REGISTRY_ONLY") return undefined;
  const text = "create a ServiceEntry for the destination, or set FIELD to ALLOW_ANY";
  return finding(object, path, { text, op: "replace", value: "ALLOW_ANY" });
}

/** Finds the first of these host names that belongs to a Service but is not covered by any egress host. */
async function hiddenService(
  resources: MeshResources,
  object: ValueMap,
  own: string,
  hosts: readonly string[],
): Promise<Finding | undefined> {
  const listeners = mapsAt(mapAt(object, "spec"), "egress");
  const allowed = listeners.flatMap((each) => textsAt(each, "hosts"));
  for (const host of hosts) {
    const [name = "", namespace = "", kind] = host.split(".");
    if (kind !== "svc" || !await resourceAt(resources, { kind: "Service", namespace, name })) continue;
    const isAllowed = allowed.some((each) => {
      const [where = "", what = ""] = each.split("/");
      return (where === "*" || where === namespace || where === "." && namespace === own) && covers(what, host);
    });
    if (isAllowed || listeners.length === 0) return undefined;
    const text = `add the Service ${namespace}/${name} to FIELD`;
    const value = `${namespace}/${host}`;
    const found = finding(object, ["spec", "egress", 0, "hosts"], { text, op: "append", value });
    const reason = `Sidecar ${found.namespace}/${found.name} does not include the Service ${namespace}/${name}`;
    return { ...found, reason };
  }
  return undefined;
}

/** Finds the endpoint of the Sidecar's ingress port. */
export function sidecarIngress(object: ValueMap, { port }: Extract<Search, { by: "ingress" }>): Finding | undefined {
  const at = mapsAt(mapAt(object, "spec"), "ingress").findIndex((each) =>
    intAt(mapAt(each, "port"), "number") === port
  );
  if (at < 0) return undefined;
  const text = "set FIELD to the address and port of the application";
  const value = `0.0.0.0:${port}`;
  return finding(object, ["spec", "ingress", at, "defaultEndpoint"], { text, op: "add", value });
}
