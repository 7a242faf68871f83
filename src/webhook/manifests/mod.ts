/**
 * `webhook manifests`. In: image, namespace, revision, tags and failure policy. Out: the YAML of all objects that run the
 * webhook in a cluster: equal for equal options, and without a difference when it is applied again.
 */
import { UsageError } from "../../base/errors.ts";
import { FLAGS_ANNOTATION, flagsText } from "../../istio/annotations/installation.ts";
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import { configurationOf, showConfiguration } from "../../inject/mod.ts";
import { accessManifests, certificateSecret } from "./access.ts";
import { cniManifests } from "./cni.ts";
import { mutatingConfigurations } from "./mutating.ts";
import { labelsOf, type ManifestOptions, type Plan, planOf } from "./options.ts";
import { type TakeOver, takeOversOf } from "./take_over.ts";
import { undoCommands } from "./undo.ts";
import { networkPolicy } from "./network_policy.ts";
import { autoscaler, deployment, disruptionBudget, service } from "./workload.ts";

export type { ManifestOptions, TakeOver };

/**
 * The manifests in the order in which to apply them: the webhook configurations come last.
 * Errors: a `UsageError` that names the flag, a `MeshError` for an invalid configuration.
 */
export function webhookManifests(options: ManifestOptions): string {
  const plan = planOf(options);
  return chosen(objectsOf(plan), plan).map((manifest) => toYaml(manifest)).join("---\n");
}

/** The commands that remove the manifests of these options from a cluster. Errors: as `webhookManifests`. */
export function webhookUndo(options: ManifestOptions): string {
  const plan = planOf(options);
  return undoCommands(plan, objectsOf(plan));
}

/** Names of Istio's objects that the manifests of these options use too. Errors: a `UsageError` that names the flag. */
export function webhookTakeOvers(options: ManifestOptions): TakeOver[] {
  const plan = planOf(options);
  const isReplaced = chosen(objectsOf(plan), plan).some(({ kind }) => kind === "MutatingWebhookConfiguration");
  return isReplaced ? takeOversOf(plan) : [];
}

/** The objects of the kinds that are wanted. Errors: a UsageError for a kind that the manifests do not have. */
function chosen(objects: readonly ValueMap[], { only }: Plan): readonly ValueMap[] {
  if (only.length === 0) return objects;
  const kinds = [...new Set(objects.map((object) => textAt(object, "kind")))];
  const wanted = new Set(only.map((kind) => kind.toLowerCase()));
  for (const kind of only) {
    if (kinds.some((each) => each.toLowerCase() === kind.toLowerCase())) continue;
    throw new UsageError(`Invalid value "${kind}" for "--only"`, { hint: `the manifests have ${kinds.join(", ")}` });
  }
  return objects.filter((object) => wanted.has(textAt(object, "kind").toLowerCase()));
}

function objectsOf(plan: Plan): readonly ValueMap[] {
  const objects = [
    ...accessManifests(plan),
    certificateSecret(plan),
    ...configurationMaps(plan),
    service(plan),
    deployment(plan),
    ...autoscaler(plan),
    disruptionBudget(plan),
    ...networkPolicy(plan),
    ...cniManifests(plan),
    ...mutatingConfigurations(plan),
  ];
  if (plan.flags.length === 0) return objects;
  const annotations = { [FLAGS_ANNOTATION]: flagsText(plan.flags) };
  return objects.map((object) => {
    if (!ANNOTATED.includes(textAt(object, "kind"))) return object;
    return { ...object, metadata: { ...mapAt(object, "metadata"), annotations } };
  });
}

/** Kinds with the annotation: if some objects are lost, another one still has it. */
const ANNOTATED = ["ConfigMap", "Service", "Deployment", "MutatingWebhookConfiguration"];

/** The configuration as one ConfigMap, with the data of `inject --show-config`; none if it is read from the cluster. */
function configurationMaps(plan: Plan): ValueMap[] {
  if (plan.cluster !== undefined) return [];
  const shown = parseYaml(showConfiguration(configurationOf({ ...plan.configuration, revision: plan.revision })));
  const data = isMap(shown) && isMap(shown["data"]) ? shown["data"] : {};
  const metadata = { name: plan.name, namespace: plan.namespace, labels: labelsOf(plan) };
  return [{ apiVersion: "v1", kind: "ConfigMap", metadata, data }];
}
