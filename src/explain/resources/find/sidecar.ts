/** Finds the Sidecar that hides a Service from a workload, blocks unknown destinations, or redirects a port. */
import { intAt, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, pointerOf } from "../change.ts";
import { type MeshResources, nameOf, resourcesFor, selectorOf } from "../mesh_resources.ts";
import { covers } from "./service_entry.ts";

const KIND = "Sidecar";

/**
 * Finds the Sidecar that applies: the Sidecar that selects the workload by labels, or else the Sidecar of the
 * namespace, or else the Sidecar of the root namespace (Istio, "Sidecar").
 */
export async function sidecarEgress(
  resources: MeshResources,
  { workload, hosts }: Extract<Search, { by: "egress" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, KIND, workload);
  const object = all.find((each) => Object.keys(selectorOf(each)).length > 0) ?? all[0];
  if (object === undefined) return undefined;
  const hidden = await hiddenService(resources, object, workload.namespace, hosts);
  if (hidden !== undefined) return hidden;
  const path: Path = ["spec", "outboundTrafficPolicy", "mode"];
  if (textAt(mapAt(mapAt(object, "spec"), "outboundTrafficPolicy"), "mode") !== "REGISTRY_ONLY") {
    return undefined;
  }
  const patch = { op: "replace", path: pointerOf(path), value: "ALLOW_ANY" } as const;
  return finding(KIND, object, {
    path,
    text: "create a ServiceEntry for the destination, or set FIELD to ALLOW_ANY",
    patch,
  });
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
    if (kind !== "svc" || !await exists(resources, namespace, name)) continue;
    const isAllowed = allowed.some((each) => {
      const [where = "", what = ""] = each.split("/");
      return (where === "*" || where === namespace || where === "." && namespace === own) && covers(what, host);
    });
    if (isAllowed || listeners.length === 0) return undefined;
    const path: Path = ["spec", "egress", 0, "hosts"];
    const patch = { op: "add", path: `${pointerOf(path)}/-`, value: `${namespace}/${host}` } as const;
    const { name: sidecar, namespace: at } = nameOf(object);
    return {
      ...finding(KIND, object, { path, text: `add the Service ${namespace}/${name} to FIELD`, patch }),
      reason: `Sidecar ${at}/${sidecar} does not include the Service ${namespace}/${name}`,
    };
  }
  return undefined;
}

async function exists(resources: MeshResources, namespace: string, name: string): Promise<boolean> {
  const services = await resources.list("Service", namespace);
  return typeof services !== "string" && services.some((each) => nameOf(each).name === name);
}

/** Finds the endpoint of the Sidecar's ingress port. */
export function sidecarIngress(object: ValueMap, { port }: Extract<Search, { by: "ingress" }>): Finding | undefined {
  const at = mapsAt(mapAt(object, "spec"), "ingress").findIndex((each) =>
    intAt(mapAt(each, "port"), "number") === port
  );
  const path: Path = ["spec", "ingress", at, "defaultEndpoint"];
  if (at < 0) return undefined;
  const patch = { op: "add", path: pointerOf(path), value: `0.0.0.0:${port}` } as const;
  return finding(KIND, object, { path, text: "set FIELD to the address and port of the application", patch });
}
