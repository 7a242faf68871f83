/** Finds the pod in a manifest, and the pod's owner. */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import type { WorkloadKind } from "./kinds.ts";
import { withAt, withKey } from "./change.ts";
import { metadataOf, type Pod } from "./pod.ts";

/** Returns the pod or pod template in a manifest; an empty mapping if it is missing. */
export function podIn(manifest: ValueMap, row: WorkloadKind): Pod {
  return row.path.reduce((map, key) => mapAt(map, key), manifest);
}

/** Returns a copy of the manifest in which the pod or pod template is replaced. */
export function withPod(manifest: ValueMap, row: WorkloadKind, pod: Pod): ValueMap {
  return withAt(manifest, row.path, pod);
}

/** Returns the pod with the namespace of its workload, of its template, or (if neither sets one) `namespace`. */
export function createdPod(manifest: ValueMap, row: WorkloadKind, namespace: string): Pod {
  const pod = podIn(manifest, row);
  const metadata = metadataOf(pod);
  const own = textAt(metadataOf(manifest), "namespace") || textAt(metadata, "namespace") || namespace;
  return own === textAt(metadata, "namespace") ? pod : withKey(pod, "metadata", withKey(metadata, "namespace", own));
}

/** The owner of a pod. Templates see it as `.TypeMeta` and `.DeploymentMeta`. */
export interface Owner {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace: string;
  /** The owner's metadata, or the pod's if the owner is derived from the pod. For templates of releases before 1.22. */
  readonly metadata?: ValueMap;
}

/** Returns the owner of the pod in a manifest: the workload itself, or a Pod's controller. */
export function ownerOf(manifest: ValueMap, row: WorkloadKind, namespace: string): Owner {
  if (row.kind === "Pod") return podOwner(manifest, namespace);
  const metadata = metadataOf(manifest);
  return {
    apiVersion: textAt(manifest, "apiVersion"),
    kind: textAt(manifest, "kind"),
    name: textAt(metadata, "name"),
    namespace: textAt(metadata, "namespace") || namespace,
    metadata,
  };
}

/**
 * Derives a pod's owner from its metadata, as in Istio's GetDeployMetaFromPod. The owner is the pod's controller, or that
 * controller's own owner, which is inferred from the names that Kubernetes generates.
 */
export function podOwner(pod: Pod, namespace: string): Owner {
  const metadata = metadataOf(pod);
  const self = {
    apiVersion: "v1",
    kind: "Pod",
    name: textAt(metadata, "name"),
    namespace: textAt(metadata, "namespace") || namespace,
    metadata,
  };
  if (textAt(metadata, "generateName") === "") return self;
  const controller = controllerOf(pod);
  return controller === undefined ? self : { ...self, ...makerOf(controller, mapAt(metadata, "labels")) };
}

function controllerOf(pod: Pod): ValueMap | undefined {
  return mapsAt(metadataOf(pod), "ownerReferences").find((reference) => reference["controller"] === true);
}

/** Returns the owner as releases before 1.22 derive it: ReplicaSet instead of Rollout, `batch/v1beta1` for a CronJob. */
export function earlierOwner(owner: Owner, pod: Pod): Owner {
  const controller = controllerOf(pod);
  if (controller === undefined) return owner;
  if (owner.kind === "CronJob" && controller["kind"] === "Job") return { ...owner, apiVersion: "batch/v1beta1" };
  if (owner.kind !== "Rollout" || controller["kind"] !== "ReplicaSet") return owner;
  const [apiVersion, name] = [textAt(controller, "apiVersion"), textAt(controller, "name")];
  return { ...owner, apiVersion, kind: "ReplicaSet", name };
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
