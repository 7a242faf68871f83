/** Finds the RequestAuthentication that accepts tokens of an issuer, or that refuses other issuers. */
import { mapAt, mapsAt, textAt } from "../../../base/value.ts";
import type { Search } from "../cause.ts";
import { type Finding, finding, type Path } from "../change.ts";
import { type MeshResources, resourcesFor } from "../mesh_resources.ts";

const KIND = "RequestAuthentication";

/** Finds the rule of the issuer, or else the first policy of the workload, which has no rule for this issuer. */
export async function requestAuthentication(
  resources: MeshResources,
  { workload, issuer }: Extract<Search, { by: "token" }>,
): Promise<Finding | undefined> {
  const all = await resourcesFor(resources, KIND, workload);
  for (const object of all) {
    const at = mapsAt(mapAt(object, "spec"), "jwtRules").findIndex((each) => textAt(each, "issuer") === issuer);
    const path: Path = ["spec", "jwtRules", at];
    if (at >= 0) return finding(KIND, object, path, { text: "correct FIELD, or send a token that this rule accepts" });
  }
  const [first] = all;
  const text = "add the issuer to FIELD, or send no token or a token of an accepted issuer";
  return first && finding(KIND, first, ["spec", "jwtRules"], { text });
}
