/** The kinds that create pods, with the path of the pod template in each. */
import { isMap, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";
import { type Pod, specOf } from "./pod.ts";

/** A workload kind, with the path of a pod template in its manifests. */
export interface WorkloadKind {
  readonly kind: string;
  /** API group of the kind. Absent: any group. */
  readonly group?: string;
  /** The kind's type in the Kubernetes schema. For a custom kind, the type of its pod template. */
  readonly type: string;
  /** Path of the object with the pod's `metadata` and `spec`. Empty for a Pod. */
  readonly path: readonly string[];
  /** Name that the kind's controller gives to a container without a name. */
  readonly containerName?: string;
  /** Warning to print if the pod has no init containers and injection adds some. */
  readonly initContainersWarning?: string;
}

const TEMPLATE_TYPE = "PodTemplateSpec";

const TEMPLATE = ["spec", "template"];

/** The path to use if the manifest itself is the pod template. */
export const ROOT = ".";

function custom(group: string | undefined, kind: string, path: string): WorkloadKind {
  const row = { kind, type: TEMPLATE_TYPE, path: path === ROOT ? [] : path.split(".") };
  return group === undefined ? row : { ...row, group };
}

const ARGO = "argoproj.io";
const KNATIVE = "serving.knative.dev";
const KRUISE = "apps.kruise.io";

/** Knative's name for nameless containers (serving, pkg/apis/serving/v1/revision_defaults.go), and its limit on init containers. */
const KNATIVE_POD = {
  containerName: "user-container",
  initContainersWarning: "Knative rejects init containers unless its ConfigMap config-features contains " +
    '"kubernetes.podspec-init-containers: enabled"; let the webhook inject the pods instead',
} as const;

/**
 * All workload kinds. A CronJob's pod is in `jobTemplate.spec.template`; the metadata of `jobTemplate` belongs to the Job.
 * (istioctl uses the Job's metadata, so it ignores an opt-out label of the pod, and the pod does not get the added labels.)
 * A row with a matching group wins over a row without a group. If a kind has several rows, its manifests may have
 * several pods.
 */
export const KINDS: readonly WorkloadKind[] = [
  { kind: "Pod", type: "Pod", path: [] },
  { kind: "Deployment", type: "Deployment", path: TEMPLATE },
  { kind: "DaemonSet", type: "DaemonSet", path: TEMPLATE },
  { kind: "ReplicaSet", type: "ReplicaSet", path: TEMPLATE },
  { kind: "StatefulSet", type: "StatefulSet", path: TEMPLATE },
  { kind: "ReplicationController", type: "ReplicationController", path: TEMPLATE },
  { kind: "DeploymentConfig", type: "openshift.DeploymentConfig", path: TEMPLATE },
  { kind: "Job", type: "Job", path: TEMPLATE },
  { kind: "CronJob", type: "CronJob", path: ["spec", "jobTemplate", "spec", "template"] },
  { kind: "PodTemplate", type: "PodTemplate", path: ["template"] },
  custom(ARGO, "Rollout", "spec.template"),
  { ...custom(KNATIVE, "Service", "spec.template"), ...KNATIVE_POD },
  { ...custom(KNATIVE, "Configuration", "spec.template"), ...KNATIVE_POD },
  custom(KRUISE, "CloneSet", "spec.template"),
  custom(KRUISE, "StatefulSet", "spec.template"),
  custom(KRUISE, "DaemonSet", "spec.template"),
  custom(KRUISE, "BroadcastJob", "spec.template"),
  custom(KRUISE, "AdvancedCronJob", "spec.template.jobTemplate.spec.template"),
  custom(KRUISE, "AdvancedCronJob", "spec.template.broadcastJobTemplate.spec.template"),
  custom(KRUISE, "UnitedDeployment", "spec.template.statefulSetTemplate.spec.template"),
  custom(KRUISE, "UnitedDeployment", "spec.template.advancedStatefulSetTemplate.spec.template"),
  custom(KRUISE, "UnitedDeployment", "spec.template.cloneSetTemplate.spec.template"),
  custom(KRUISE, "UnitedDeployment", "spec.template.deploymentTemplate.spec.template"),
];

/** Name for a nameless container. If the pod has several containers, Knative appends a number. */
export function defaultName(name: string, index: number, count: number): string {
  return count === 1 ? name : `${name}-${index}`;
}

/** Workload kinds whose pods run to completion. */
const ENDING = ["Job", "CronJob", "BroadcastJob", "AdvancedCronJob"];

/** Whether a pod runs to completion. `kind` is the kind of the pod's owner. */
export function endsByItself(kind: string, pod: Pod): boolean {
  return ENDING.includes(kind) ||
    (kind === "Pod" && ["Never", "OnFailure"].includes(textAt(specOf(pod), "restartPolicy")));
}

const BY_KIND = Map.groupBy(KINDS, ({ kind }) => kind);

export const BUILT_IN_KINDS: readonly string[] = KINDS.flatMap((row) => isCustom(row) ? [] : [row.kind]);

/** Whether the kind comes from neither Kubernetes nor OpenShift. */
export function isCustom({ type }: WorkloadKind): boolean {
  return type === TEMPLATE_TYPE;
}

/** The API group of a manifest; `""` for the core group (`v1`). */
export function groupOf(manifest: ValueMap): string {
  const [group = "", version] = textAt(manifest, "apiVersion").split("/");
  return version === undefined ? "" : group;
}

/** Finds the row of a manifest's kind; `undefined` if the kind does not create pods. */
export function workloadKind(manifest: Value): WorkloadKind | undefined {
  const [first] = workloadKinds(manifest);
  return first;
}

/** Finds the rows whose path exists in the manifest; if none exists, the kind's first row. `given`: the user's rows. */
export function workloadKinds(manifest: Value, given: readonly WorkloadKind[] = []): readonly WorkloadKind[] {
  if (!isMap(manifest)) return [];
  const kind = textAt(manifest, "kind");
  const rows = rowsOf(kind, manifest, given);
  if (rows.length < 2) return rows;
  const filled = rows.filter((row) => hasPod(manifest, row));
  return filled.length > 0 ? filled : rows.slice(0, 1);
}

function rowsOf(kind: string, manifest: ValueMap, given: readonly WorkloadKind[]): readonly WorkloadKind[] {
  const own = given.filter((row) => row.kind === kind);
  const known = own.length > 0 ? own : BY_KIND.get(kind) ?? [];
  if (known.length === 0) return known;
  const group = groupOf(manifest);
  const ofGroup = known.filter((row) => row.group === group);
  return ofGroup.length > 0 ? ofGroup : known.filter((row) => row.group === undefined);
}

/** Whether the manifest has a pod template at the row's path. */
export function hasPod(manifest: ValueMap, row: WorkloadKind): boolean {
  return isMap(valueAt(manifest, ...row.path));
}

const TEMPLATE_PATH = /^([A-Za-z][A-Za-z0-9]*)=(\.|[^.=]+(?:\.[^.=]+)*)$/;

/** Parses `KIND=PATH`, such as `Foo=spec.template` or `Foo=.`; `undefined` if the text has another form. */
export function templatePath(text: string): WorkloadKind | undefined {
  const [, kind, path] = TEMPLATE_PATH.exec(text) ?? [];
  return kind === undefined || path === undefined ? undefined : custom(undefined, kind, path);
}
