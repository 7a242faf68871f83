/** Finds the PeerAuthentication that sets the mTLS mode of a port. */
import type { ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, valueAtPath } from "../change.ts";
import { type MeshResources, nameOf, resourcesFor, selectorOf } from "../mesh_resources.ts";

/**
 * Finds the mode. Istio's order: the port in a policy with a selector, that policy's mode, the policy of the namespace,
 * and the policy of the mesh (Istio, "PeerAuthentication"). UNSET means that the next mode in this order applies.
 */
export async function peerAuthentication(
  resources: MeshResources,
  { workload, port }: Extract<Search, { by: "mtls" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, "PeerAuthentication", workload);
  const isOwn = (object: ValueMap) => nameOf(object).namespace === workload.namespace;
  const hasSelector = (object: ValueMap) => Object.keys(selectorOf(object)).length > 0;
  const own = all.find((each) => isOwn(each) && hasSelector(each));
  const ofNamespace = all.find((each) => isOwn(each) && !hasSelector(each));
  const ofMesh = all.find((each) => nameOf(each).namespace === workload.root && !hasSelector(each));
  const places: readonly (readonly [ValueMap | undefined, Path])[] = [
    [own, ["spec", "portLevelMtls", String(port), "mode"]],
    ...[own, ofNamespace, ofMesh].map((each) => [each, ["spec", "mtls", "mode"]] as const),
  ];
  for (const [object, path] of places) {
    const mode = object && valueAtPath(object, path);
    if (object === undefined || !mode || mode === "UNSET") continue;
    return finding("PeerAuthentication", object, path, {
      text: "set FIELD to PERMISSIVE",
      op: "replace",
      value: "PERMISSIVE",
    });
  }
  return undefined;
}
