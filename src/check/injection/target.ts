/** Reads the workload to explain, which is an object of the cluster or a manifest. */
import { MeshError } from "../../base/errors.ts";
import { newMap, textAt, type ValueMap } from "../../base/value.ts";
import { type KubeApi, type KubeObject, readWorkloadName } from "../../kube/client/mod.ts";
import { resourceName } from "../../kube/mod.ts";
import {
  BUILT_IN_KINDS,
  metadataOf,
  type Owner,
  ownerOf,
  type Pod,
  podIn,
  withKey,
  type WorkloadKind,
  workloadKind,
} from "../../inject/mod.ts";
import { hasNamespace, noNamespace } from "../inventory/source.ts";
import type { Named } from "../advice/commands.ts";
import { withControllerLabels } from "./controller_labels.ts";

export interface Target {
  readonly manifest: ValueMap;
  readonly row: WorkloadKind;
  /** Kind, group, and name: `deployment.apps/web`. */
  readonly workload: string;
  readonly name: string;
  readonly namespace: string;
  /** The file of the manifest; `undefined` for an object of the cluster. */
  readonly file: string | undefined;
  readonly document?: number;
  /** Warnings about the YAML text of the manifest. */
  readonly warnings?: readonly string[];
}

/** Reads a workload from the cluster. Throws errors of the API, and a MeshError if the workload does not exist. */
export async function clusterTarget(api: KubeApi, text: string, namespace: string): Promise<Target> {
  const { path, kind } = readWorkloadName(text);
  const object = await api.get(path(namespace));
  const target = object === undefined ? undefined : targetOf({ ...object, kind }, namespace, undefined);
  if (target !== undefined) return target;
  if (!await hasNamespace(api, namespace)) throw noNamespace(namespace);
  throw new MeshError(`There is no "${text}" in the namespace "${namespace}"`, { hint: "see --namespace" });
}

/** Returns the workload in a manifest; `undefined` for other kinds. */
export function targetOf(manifest: ValueMap, namespace: string, file: string | undefined): Target | undefined {
  const row = workloadKind(manifest);
  return row === undefined ? undefined : targetOfKind(manifest, row, { namespace, file });
}

/** Returns the workload in a manifest of this kind. `namespace` is the default for a manifest without a namespace. */
export function targetOfKind(
  manifest: ValueMap,
  row: WorkloadKind,
  { namespace, file }: Pick<Target, "namespace" | "file">,
): Target {
  const metadata = metadataOf(manifest);
  const name = textAt(metadata, "name") || textAt(metadata, "generateName");
  const workload = resourceName(textAt(manifest, "apiVersion"), row.kind, name);
  return { manifest, row, workload, name, namespace: textAt(metadata, "namespace") || namespace, file };
}

/** Returns the controller in a pod's owner reference as a workload; `undefined` for other kinds. */
export function targetOfOwner({ apiVersion, kind, namespace, name }: Owner): Target | undefined {
  return targetOf(Object.assign(newMap(), { apiVersion, kind, metadata: { name, namespace } }), namespace, undefined);
}

/** Returns the workload for a reference in a finding, where kinds are in lower case; `undefined` for unknown kinds. */
export function targetNamed({ kind, namespace, name }: Named): Target | undefined {
  const found = BUILT_IN_KINDS.find((each) => each.toLowerCase() === kind);
  return found === undefined ? undefined : targetOfOwner({ kind: found, apiVersion: "", namespace, name });
}

/** Returns the pod that the API server gets, with its namespace and the labels of its controller. */
export function podOf({ manifest, row, namespace, name }: Target): Pod {
  const pod = withControllerLabels(podIn(manifest, row), row.kind, name, manifest);
  return withKey(pod, "metadata", withKey(Object.assign(newMap(), metadataOf(pod)), "namespace", namespace));
}

export function ownerOfTarget({ manifest, row, namespace }: Target): Owner {
  return ownerOf(manifest, row, namespace);
}

/** Returns an object of the cluster as a workload; `undefined` for other kinds. */
export function objectTarget(object: KubeObject): Target | undefined {
  return targetOf(object, object.metadata.namespace ?? "", undefined);
}
