/** Patches for kustomize, in place of changed manifests. */
import { PatchError, strategicPatch } from "../../kube/mod.ts";
import { newMap, textAt, type ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { metadataOf } from "../pod/pod.ts";

/** The workloads whose merge keys kustomize knows (kyaml, openapi/kubernetesapi/v1_21_2, since kustomize 4.2). */
const KNOWN: Readonly<Record<string, readonly string[]>> = {
  "v1": ["Pod", "PodTemplate", "ReplicationController"],
  "apps/v1": ["Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"],
  "batch/v1": ["Job", "CronJob"],
  "batch/v1beta1": ["CronJob"],
};

/**
 * The patch that turns a manifest into another one, with the names by which kustomize finds the manifest, and warnings about
 * it. Errors: an InjectionError for a manifest that kustomize cannot find, and for a change that no patch can express.
 */
export function workloadPatch(
  before: ValueMap,
  after: ValueMap,
): { readonly patch: ValueMap; readonly warnings: readonly string[] } {
  const apiVersion = textAt(before, "apiVersion");
  const kind = textAt(before, "kind");
  const { name, namespace } = metadataOf(before);
  if (name === undefined || name === null) {
    throw notPatchable(`The ${kind} has no name: kustomize cannot find what to patch`, "metadata.name");
  }
  const isKnown = KNOWN[apiVersion]?.includes(kind) ?? false;
  const changes = changesOf(before, after, isKnown ? kind : undefined);
  const metadata = newMap();
  Object.assign(metadata, { name }, namespace === undefined ? {} : { namespace }, changes["metadata"]);
  const patch: ValueMap = Object.assign(newMap(), { apiVersion, kind, metadata }, changes, { metadata });
  if (isKnown) return { patch, warnings: [] };
  const what = `kustomize knows no merge keys of ${kind} in ${apiVersion}`;
  return { patch, warnings: [`${what}: the patch holds whole lists; make it again when the manifest changes`] };
}

function changesOf(before: ValueMap, after: ValueMap, type: string | undefined): ValueMap {
  try {
    return strategicPatch(before, after, type);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw notPatchable(`No patch can say what changes: ${error.message}`, "");
  }
}

function notPatchable(message: string, field: string): InjectionError {
  const hint = 'leave --patch out, or let kustomize run "kubectl mesh kustomize"';
  return new InjectionError("not-patchable", message, { place: { field }, hint });
}
