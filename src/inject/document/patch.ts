/** Builds strategic merge patches for kustomize. */
import { PatchError, strategicPatch } from "../../kube/mod.ts";
import { newMap, textAt, type ValueMap } from "../../base/value.ts";
import { InjectionError } from "../injection_error.ts";
import { metadataOf } from "../pod/pod.ts";

/** Workloads whose list merge keys are built into kustomize since 4.2 (kyaml, openapi/kubernetesapi/v1_21_2). */
const KNOWN: ReadonlyMap<string, readonly string[]> = new Map([
  ["v1", ["Pod", "PodTemplate", "ReplicationController"]],
  ["apps/v1", ["Deployment", "DaemonSet", "ReplicaSet", "StatefulSet"]],
  ["batch/v1", ["Job", "CronJob"]],
  ["batch/v1beta1", ["CronJob"]],
]);

/**
 * Returns the patch that turns `before` into `after`, with warnings about it. The patch contains the name and namespace by
 * which kustomize finds the manifest. Throws an InjectionError if the manifest has no name, or no patch can express the
 * change.
 */
export function workloadPatch(
  before: ValueMap,
  after: ValueMap,
): { readonly patch: ValueMap; readonly warnings: readonly string[] } {
  const apiVersion = textAt(before, "apiVersion");
  const kind = textAt(before, "kind");
  const { name, namespace } = metadataOf(before);
  if (name === undefined || name === null) {
    throw notPatchable(`The ${kind} has no name, so kustomize cannot find the target of the patch`, "metadata.name");
  }
  const isKnown = KNOWN.get(apiVersion)?.includes(kind) ?? false;
  const changes = changesOf(before, after, isKnown ? kind : undefined);
  const metadata = newMap();
  Object.assign(metadata, { name }, namespace === undefined ? {} : { namespace }, changes["metadata"]);
  const patch: ValueMap = Object.assign(newMap(), { apiVersion, kind, metadata }, changes, { metadata });
  if (isKnown) return { patch, warnings: [] };
  const what = `kustomize has no merge keys for ${kind} in ${apiVersion}`;
  return {
    patch,
    warnings: [`${what}, so the patch contains whole lists; write the patch again when the manifest changes`],
  };
}

function changesOf(before: ValueMap, after: ValueMap, type: string | undefined): ValueMap {
  try {
    return strategicPatch(before, after, type);
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    throw notPatchable(`The change cannot be expressed as a patch: ${error.message}`, "");
  }
}

function notPatchable(message: string, field: string): InjectionError {
  const hint = 'omit --patch, or let kustomize run "kubectl mesh kustomize"';
  return new InjectionError("not-patchable", message, { place: { field }, hint });
}
