/** Finds the field of a PeerAuthentication, RequestAuthentication or AuthorizationPolicy that refuses a client. */
import { isList, mapAt, mapsAt, textAt, type ValueMap } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path, removal, valueAtPath } from "../change.ts";
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
    return finding(object, path, { text: "set FIELD to PERMISSIVE", op: "replace", value: "PERMISSIVE" });
  }
  return undefined;
}

/** Finds the rule of the issuer, or else the first policy of the workload, which has no rule for this issuer. */
export async function requestAuthentication(
  resources: MeshResources,
  { workload, issuer }: Extract<Search, { by: "token" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, "RequestAuthentication", workload);
  for (const object of all) {
    const at = mapsAt(mapAt(object, "spec"), "jwtRules").findIndex((each) => textAt(each, "issuer") === issuer);
    const path: Path = ["spec", "jwtRules", at];
    if (at >= 0) return finding(object, path, { text: "correct FIELD, or send a token that this rule accepts" });
  }
  const [first] = all;
  const text = "add the issuer to FIELD, or send no token or a token of an accepted issuer";
  return first && finding(first, ["spec", "jwtRules"], { text });
}

/** Suggests to remove a DENY rule, or to add the client to an ALLOW policy. For an unknown client, suggests `edit`. */
export function authorizationRules(object: ValueMap, search: Extract<Search, { by: "rules" }>): Finding {
  const { action, rule, principal } = search;
  const rules: Path = ["spec", "rules"];
  if (action === "deny") return removal(object, [...rules, rule], "change or remove FIELD");
  const text = "add the client to FIELD";
  if (principal === "") return finding(object, rules, { text });
  const value = { from: [{ source: { principals: [principal] } }] };
  const hasRules = isList(mapAt(object, "spec")["rules"]);
  return finding(object, rules, hasRules ? { text, op: "append", value } : { text, op: "add", value: [value] });
}
