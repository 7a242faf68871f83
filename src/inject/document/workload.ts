/** The position of the pod in a manifest, by kind. */
import { isMap, mapAt, textAt, type Value, valueAt, type ValueMap } from "../../core/value.ts";
import { metadataOf, type Pod, withKey } from "../pod/pod.ts";

/** A kind that creates pods. */
export interface WorkloadKind {
  readonly kind: string;
  /** Its type in the Kubernetes schema, for every apiVersion. */
  readonly type: string;
  /** Field path to the object with the pod's `metadata` and `spec`; empty for a Pod. */
  readonly path: readonly string[];
  /** Kubernetes has no default for the template (its field is a pointer). */
  readonly templateRequired: boolean;
  /** Written with all fields that the type always has, like OpenShift's API server: some of its tools need them. */
  readonly typed?: boolean;
}

/**
 * A CronJob's pod is in `jobTemplate.spec.template`; the metadata of `jobTemplate` belongs to the Job. (istioctl uses the
 * Job's metadata, so it misses an opt-out in the pod, and its labels do not reach the pod.)
 */
const TEMPLATE = ["spec", "template"];
const KINDS: readonly WorkloadKind[] = [
  { kind: "Pod", type: "Pod", path: [], templateRequired: false },
  { kind: "Deployment", type: "Deployment", path: TEMPLATE, templateRequired: false },
  { kind: "DaemonSet", type: "DaemonSet", path: TEMPLATE, templateRequired: false },
  { kind: "ReplicaSet", type: "ReplicaSet", path: TEMPLATE, templateRequired: false },
  { kind: "StatefulSet", type: "StatefulSet", path: TEMPLATE, templateRequired: false },
  { kind: "ReplicationController", type: "ReplicationController", path: TEMPLATE, templateRequired: true },
  { kind: "DeploymentConfig", type: "openshift.DeploymentConfig", path: TEMPLATE, templateRequired: true, typed: true },
  { kind: "Job", type: "Job", path: TEMPLATE, templateRequired: false },
  { kind: "CronJob", type: "CronJob", path: ["spec", "jobTemplate", "spec", "template"], templateRequired: false },
];

const BY_KIND = new Map(KINDS.map((row) => [row.kind, row]));

/** The row of a manifest, for any apiVersion; `undefined` for a kind without pods. */
export function workloadKind(manifest: Value): WorkloadKind | undefined {
  return isMap(manifest) ? BY_KIND.get(textAt(manifest, "kind")) : undefined;
}

/** The pod (or pod template) in a manifest; an empty one if it is missing. */
export function podIn(manifest: ValueMap, row: WorkloadKind): Pod {
  return row.path.reduce((map, key) => mapAt(map, key), manifest);
}

/** Whether the manifest has a pod. */
export function hasPod(manifest: ValueMap, row: WorkloadKind): boolean {
  return isMap(valueAt(manifest, ...row.path));
}

/** A copy of the manifest with another pod. */
export function withPod(manifest: ValueMap, row: WorkloadKind, pod: Pod): ValueMap {
  return replaceAt(manifest, row.path, pod);
}

function replaceAt(map: ValueMap, path: readonly string[], value: ValueMap): ValueMap {
  const [key, ...rest] = path;
  return key === undefined ? value : withKey(map, key, replaceAt(mapAt(map, key), rest, value));
}

/** The owner of a pod for templates: `.TypeMeta` and `.DeploymentMeta`. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
}

/** The owner of the pod in a manifest: the manifest itself, or the controller of a Pod. */
export function ownerOf(manifest: ValueMap, row: WorkloadKind, namespace: string): Owner {
  if (row.kind === "Pod") return podOwner(manifest, namespace);
  const metadata = metadataOf(manifest);
  return {
    apiVersion: textAt(manifest, "apiVersion"),
    kind: textAt(manifest, "kind"),
    name: textAt(metadata, "name"),
    namespace: textAt(metadata, "namespace") || namespace,
  };
}

/**
 * The owner of a pod, guessed from its metadata as in Istio's GetDeployMetaFromPod: the controller among its owners, or the
 * owner of that controller, from the names that Kubernetes generates.
 */
export function podOwner(pod: Pod, namespace: string): Owner {
  const metadata = metadataOf(pod);
  const self = {
    apiVersion: "v1",
    kind: "Pod",
    name: textAt(metadata, "name"),
    namespace: textAt(metadata, "namespace") || namespace,
  };
  if (textAt(metadata, "generateName") === "") return self;
  const references = metadata["ownerReferences"];
  const controller = Array.isArray(references)
    ? references.filter(isMap).find((reference) => reference["controller"] === true)
    : undefined;
  return controller === undefined ? self : { ...self, ...makerOf(controller, mapAt(metadata, "labels")) };
}

type Maker = Pick<Owner, "apiVersion" | "kind" | "name">;

function makerOf(controller: ValueMap, labels: ValueMap): Maker {
  const maker = {
    apiVersion: textAt(controller, "apiVersion"),
    kind: textAt(controller, "kind"),
    name: textAt(controller, "name"),
  };
  if (maker.kind === "ReplicaSet") return makerOfReplicaSet(maker, labels);
  if (maker.kind === "ReplicationController" && textAt(labels, "deploymentconfig") !== "") {
    return { apiVersion: maker.apiVersion, kind: "DeploymentConfig", name: textAt(labels, "deploymentconfig") };
  }
  const scheduled = maker.kind === "Job" ? /^(.+)-\d{8,10}$/.exec(maker.name) : null;
  return scheduled?.[1] === undefined ? maker : { apiVersion: "batch/v1", kind: "CronJob", name: scheduled[1] };
}

function makerOfReplicaSet(maker: Maker, labels: ValueMap): Maker {
  const rollout = textAt(labels, "rollouts-pod-template-hash");
  if (rollout !== "" && maker.name.endsWith(rollout)) {
    return { apiVersion: "v1alpha1", kind: "Rollout", name: withoutHash(maker.name, rollout) };
  }
  const hash = textAt(labels, "pod-template-hash");
  if (hash === "" || !maker.name.endsWith(hash)) return maker;
  return { apiVersion: maker.apiVersion, kind: "Deployment", name: withoutHash(maker.name, hash) };
}

function withoutHash(name: string, hash: string): string {
  return name.endsWith(`-${hash}`) ? name.slice(0, -hash.length - 1) : name;
}
