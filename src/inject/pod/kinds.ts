/** The kinds that create pods, and where the pod is in each. */
import { isMap, textAt, type Value, valueAt, type ValueMap } from "../../base/value.ts";

/** A place of a pod in a kind of manifest. */
export interface WorkloadKind {
  readonly kind: string;
  /** The API group that the kind belongs to; any group if absent. */
  readonly group?: string;
  /** Its type in the Kubernetes schema. For a kind that Kubernetes does not define, the type of its template. */
  readonly type: string;
  /** Field path to the object with the pod's `metadata` and `spec`; empty for a Pod. */
  readonly path: readonly string[];
  /** The name of a container that has none. */
  readonly containerName?: string;
  /** What to warn of where injection adds the first init containers. */
  readonly initContainersWarning?: string;
}

/** The type of the template in a kind that Kubernetes does not define. */
const TEMPLATE_TYPE = "PodTemplateSpec";

const TEMPLATE = ["spec", "template"];

/** The path of a manifest that is itself a pod. */
export const ROOT = ".";

/** Fields of a kind that Kubernetes does not define. */
function custom(group: string | undefined, kind: string, path: string): WorkloadKind {
  const row = { kind, type: TEMPLATE_TYPE, path: path === ROOT ? [] : path.split(".") };
  return group === undefined ? row : { ...row, group };
}

const ARGO = "argoproj.io";
const KNATIVE = "serving.knative.dev";
const KRUISE = "apps.kruise.io";

/** Knative names a container without a name (serving, pkg/apis/serving/v1/revision_defaults.go). */
const KNATIVE_POD = {
  containerName: "user-container",
  initContainersWarning: "Knative refuses init containers unless its ConfigMap config-features has " +
    '"kubernetes.podspec-init-containers: enabled": let the webhook inject the pods instead',
} as const;

/**
 * A CronJob's pod is in `jobTemplate.spec.template`; the metadata of `jobTemplate` belongs to the Job. (istioctl uses the
 * Job's metadata, so it misses an opt-out in the pod, and its labels do not reach the pod.)
 * A kind of a group comes before the same kind of any group. A kind with several rows has a pod at one or more of them.
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

/** The name of a container without one; Knative numbers several. */
export function defaultName(name: string, index: number, count: number): string {
  return count === 1 ? name : `${name}-${index}`;
}

const BY_KIND = Map.groupBy(KINDS, ({ kind }) => kind);

/** The kinds that Kubernetes defines. */
export const BUILT_IN_KINDS: readonly string[] = KINDS.flatMap((row) => isCustom(row) ? [] : [row.kind]);

/** Whether Kubernetes does not define the kind: the type of its row is the template's. */
export function isCustom({ type }: WorkloadKind): boolean {
  return type === TEMPLATE_TYPE;
}

/** The API group of a manifest; `""` for `v1`. */
export function groupOf(manifest: ValueMap): string {
  const [group = "", version] = textAt(manifest, "apiVersion").split("/");
  return version === undefined ? "" : group;
}

/** The place of the pod in a manifest; `undefined` for a kind without pods. */
export function workloadKind(manifest: Value): WorkloadKind | undefined {
  const [first] = workloadKinds(manifest);
  return first;
}

/** The places of a kind that hold a pod in this manifest, else the first place. `given` are rows of the user. */
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

/** Whether the manifest has a pod there. */
export function hasPod(manifest: ValueMap, row: WorkloadKind): boolean {
  return isMap(valueAt(manifest, ...row.path));
}

const TEMPLATE_PATH = /^([A-Za-z][A-Za-z0-9]*)=(\.|[^.=]+(?:\.[^.=]+)*)$/;

/** The row of `KIND=PATH`, such as `Foo=spec.template` or `Foo=.`; `undefined` for another text. */
export function templatePath(text: string): WorkloadKind | undefined {
  const [, kind, path] = TEMPLATE_PATH.exec(text) ?? [];
  return kind === undefined || path === undefined ? undefined : custom(undefined, kind, path);
}
