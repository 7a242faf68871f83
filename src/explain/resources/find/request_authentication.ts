/** The RequestAuthentication that takes tokens of an issuer, or the one that refuses others. */
import { mapAt, mapsAt, textAt } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path } from "../change.ts";
import { type MeshResources, resourcesFor } from "../mesh_resources.ts";

const KIND = "RequestAuthentication";

/** The rule of the issuer; else the first policy of the workload, which lacks one. */
export async function requestAuthentication(
  resources: MeshResources,
  { workload, issuer }: Extract<Search, { by: "token" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, KIND, workload);
  for (const object of all) {
    const at = mapsAt(mapAt(object, "spec"), "jwtRules").findIndex((each) => textAt(each, "issuer") === issuer);
    const path: Path = ["spec", "jwtRules", at];
    if (at >= 0) return finding(KIND, object, { path, text: "send a token that FIELD accepts, or correct this" });
  }
  const [first] = all;
  if (first === undefined) return undefined;
  const text = "send no token or one of an issuer in FIELD, or add the issuer there";
  return finding(KIND, first, { path: ["spec", "jwtRules"], text });
}
