/**
 * `webhook manifests`. In: namespace, revision and tags, image, and how strict the webhook shall be. Out: all that has to be
 * applied to run it in a cluster, as YAML: the same for the same options, and without a difference when it is applied again.
 */
import { toYaml } from "../../core/yaml/mod.ts";
import { accessManifests } from "./access.ts";
import { configurationMaps } from "./configuration.ts";
import { mutatingConfigurations } from "./mutating.ts";
import { type ManifestOptions, planOf } from "./options.ts";
import { deployment, disruptionBudget, service } from "./workload.ts";

export type { ManifestOptions };

/**
 * The manifests, in the order in which they are to be applied: what calls the webhook comes last.
 * Errors: a UsageError that names the flag, a MeshError for a configuration that is none.
 */
export function webhookManifests(options: ManifestOptions): string {
  const plan = planOf(options);
  const manifests = [
    ...accessManifests(plan),
    ...configurationMaps(plan),
    service(plan),
    deployment(plan),
    disruptionBudget(plan),
    ...mutatingConfigurations(plan),
  ];
  return manifests.map((manifest) => toYaml(manifest)).join("---\n");
}
