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
import { type TakeOver, takeOversOf } from "./take_over.ts";
import { undoCommands } from "./undo.ts";
import { deployment, disruptionBudget, service } from "./workload.ts";

export type { ManifestOptions, TakeOver };

/**
 * The manifests in the order in which to apply them: the webhook configurations come last.
 * Errors: a `UsageError` that names the flag, a `MeshError` for an invalid configuration.
 */
export function webhookManifests(options: ManifestOptions): string {
  return objectsOf(planOf(options)).map((manifest) => toYaml(manifest)).join("---\n");
}

/** The commands that take the manifests of these options out of a cluster. Errors: as `webhookManifests`. */
export function webhookUndo(options: ManifestOptions): string {
  const plan = planOf(options);
  return undoCommands(plan, objectsOf(plan));
}

/** The names of Istio's that the manifests of these options have. Errors: a `UsageError` that names the flag. */
export function webhookTakeOvers(options: ManifestOptions): TakeOver[] {
  return takeOversOf(planOf(options));
}

function objectsOf(plan: Plan): ValueMap[] {
  return [
    ...accessManifests(plan),
    ...configurationMaps(plan),
    service(plan),
    deployment(plan),
    disruptionBudget(plan),
    ...mutatingConfigurations(plan),
  ];
}

/** The configuration as one ConfigMap, with the data of `inject --show-config`; none if it is read from the cluster. */
function configurationMaps(plan: Plan): ValueMap[] {
  if (plan.cluster !== undefined) return [];
  const shown = parseYaml(showConfiguration(configurationOf({ ...plan.configuration, revision: plan.revision })));
  const data = isMap(shown) && isMap(shown["data"]) ? shown["data"] : {};
  const metadata = { name: plan.name, namespace: plan.namespace, labels: labelsOf(plan) };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata, data }];
}
