/**
 * `webhook manifests`. In: image, namespace, revision, tags and failure policy. Out: the YAML of all objects that run the
 * webhook in a cluster: equal for equal options, and without a difference when it is applied again.
 */
import { isMap, type ValueMap } from "../../core/value.ts";
import { parseYaml, toYaml } from "../../core/yaml/mod.ts";
import { configurationOf, showConfiguration } from "../../inject/mod.ts";
import { accessManifests } from "./access.ts";
import { mutatingConfigurations } from "./mutating.ts";
import { labelsOf, type ManifestOptions, type Plan, planOf } from "./options.ts";
import { deployment, disruptionBudget, service } from "./workload.ts";

export type { ManifestOptions };

/**
 * The manifests in the order in which to apply them: the webhook configurations come last.
 * Errors: a `UsageError` that names the flag, a `MeshError` for an invalid configuration.
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

/** The configuration as one ConfigMap, with the data of `inject --show-config`; none if it is read from the cluster. */
function configurationMaps(plan: Plan): ValueMap[] {
  if (plan.cluster !== undefined) return [];
  const shown = parseYaml(showConfiguration(configurationOf(plan.configuration)));
  const data = isMap(shown) && isMap(shown["data"]) ? shown["data"] : {};
  const metadata = { name: plan.name, namespace: plan.namespace, labels: labelsOf(plan) };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata, data }];
}
