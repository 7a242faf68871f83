/**
 * `webhook manifests`. Returns the YAML of all objects that run the webhook in a cluster, from options such as image and
 * revision. The output depends only on the options. Applying it again changes nothing.
 */
import { UsageError } from "../../base/errors.ts";
import { FLAGS_ANNOTATION, flagsText } from "../../istio/annotations/installation.ts";
import { isMap, mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import { configurationOf, showConfiguration } from "../../inject/mod.ts";
import { accessManifests, certificateSecret } from "./access.ts";
import { cniManifests } from "./cni.ts";
import { mutatingConfigurations } from "./mutating.ts";
import { type ManifestOptions, objectOf, type Plan, planOf } from "./options.ts";
import { type TakeOver, takeOversOf } from "./take_over.ts";
import { undoCommands } from "./undo.ts";
import { networkPolicy } from "./network_policy.ts";
import { autoscaler, deployment, disruptionBudget, service } from "./workload.ts";

export type { ManifestOptions, TakeOver };

/**
 * Returns the manifests in the order in which to apply them. The webhook configurations come last.
 * Throws a `UsageError` that names the invalid flag, and a `MeshError` for an invalid configuration.
 */
export function webhookManifests(options: ManifestOptions): string {
  const plan = planOf(options);
  return chosen(objectsOf(plan), plan).map((manifest) => toYaml(manifest)).join("---\n");
}

/** Returns the shell commands that remove these objects from a cluster. Throws the errors of `webhookManifests`. */
export function webhookUndo(options: ManifestOptions): string {
  const plan = planOf(options);
  return undoCommands(plan, objectsOf(plan));
}

/** Returns Istio's objects that the manifests would replace. Throws the errors of `webhookManifests`. */
export function webhookTakeOvers(options: ManifestOptions): TakeOver[] {
  const plan = planOf(options);
  const isReplaced = chosen(objectsOf(plan), plan).some(({ kind }) => kind === "MutatingWebhookConfiguration");
  return isReplaced ? takeOversOf(plan) : [];
}

/** Selects the objects of the kinds in `--only`. Throws a UsageError if the manifests contain no object of a kind. */
function chosen(objects: readonly ValueMap[], { only }: Plan): readonly ValueMap[] {
  if (only.length === 0) return objects;
  const kinds = [...new Set(objects.map((object) => textAt(object, "kind")))];
  const wanted = new Set(only.map((kind) => kind.toLowerCase()));
  for (const kind of only) {
    if (kinds.some((each) => each.toLowerCase() === kind.toLowerCase())) continue;
    throw new UsageError(`Invalid value "${kind}" for "--only"`, { hint: `use one of ${kinds.join(", ")}` });
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

/**
 * Kinds that get the annotation with the flags. Several kinds get it, so that the flags survive if objects are lost.
 */
const ANNOTATED = ["ConfigMap", "Service", "Deployment", "MutatingWebhookConfiguration"];

/** The ConfigMap with the configuration, as in `inject --show-config`. Empty if the webhook reads it from a control plane. */
function configurationMaps(plan: Plan): ValueMap[] {
  if (plan.cluster !== undefined) return [];
  const shown = parseYaml(showConfiguration(configurationOf({ ...plan.configuration, revision: plan.revision })));
  return [objectOf(plan, "v1", "ConfigMap", { data: isMap(shown) ? mapAt(shown, "data") : {} })];
}
