/** Advice to change a workload. */
import { shellQuoted } from "../../base/text/mod.ts";
import { ANNOTATION } from "../../istio/annotations/names.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { annotationsOf, podIn, podOwner } from "../../inject/mod.ts";
import { type Advice, byHand, harmless, look, type Risk } from "../advice/advice.ts";
import {
  createAgain,
  edit,
  explainInjection,
  type Named,
  patch,
  remove,
  rolloutRestart,
  setLabel,
  uninject,
} from "../advice/commands.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import { type Target, targetNamed } from "./target.ts";

/** A change of a label or an annotation of a workload's pod. */
export interface PodChange {
  readonly of: "labels" | "annotations";
  readonly key: string;
  readonly value: string | null;
}

/** Returns advice to change a label or an annotation of the pod. A controller then recreates its pods. */
export function changePod(target: Target, { of, key, value }: PodChange): Advice {
  const field = [...target.row.path, "metadata", of].join(".");
  const what = of.slice(0, -1);
  if (target.file !== undefined) {
    return byHand(
      value === null
        ? `remove "${key}" from ${field} in ${target.file}`
        : `set "${key}" to "${value}" in ${field} in ${target.file}`,
      "workload",
    );
  }
  const change = value === null
    ? `remove the ${what} ${key} from the pod`
    : `set the ${what} ${key}=${value} on the pod`;
  return changed(target, change, { metadata: { [of]: { [key]: value } } });
}

type Annotations = Readonly<Record<string, string | null>>;

/** Advice to annotate a workload's pods. For a Job, by hand: a command that replaces the Job would run the Job again. */
export function annotatedPod(object: Named, change: string, annotations: Annotations): Advice {
  const target = targetNamed(object);
  if (target !== undefined && target.row.kind !== "Job") {
    return { ...changed(target, change, { metadata: { annotations } }), change };
  }
  const field = [...target?.row.path ?? ["the pod template's"], "metadata.annotations"].join(".");
  const all = Object.entries(annotations).map(([key, value]) => value === null ? `no ${key}` : `${key}: "${value}"`);
  return byHand(`${change}: set ${all.join(", ")} in ${field} of its manifest`, "workload");
}

/** Advice to label the pods of a workload so that no webhook is called for new pods. */
export function optedOut(object: Named, change: string, risk: Risk): Advice {
  const { kind, namespace } = object;
  const rest = { change, risk, namespace } as const;
  if (kind === "pod") return { ...harmless(change, "workload", setLabel(object, LABEL.inject, "false")), ...rest };
  const target = targetNamed(object);
  if (target === undefined) {
    return { ...byHand(`${change}: label its pod template with ${LABEL.inject}=false`, "workload"), risk };
  }
  return { ...changePod(target, { of: "labels", key: LABEL.inject, value: "false" }), ...rest };
}

/** Advice to edit a pod. `change` gets the path of the pod's spec. Pods and Jobs must be recreated from a manifest. */
export function editedPod(object: Named, change: (podSpec: string) => string): Advice {
  const target = targetNamed(object);
  const text = change([...target?.row.path ?? [], "spec"].join("."));
  if (target === undefined || ["Pod", "Job"].includes(target.row.kind)) {
    return byHand(`in its manifest, ${text}, then recreate the object`, "workload");
  }
  return harmless(text, "workload", edit(object));
}

/** Advice to remove `hostNetwork` from the pod. */
export function ownNetwork(target: Target): Advice {
  const field = [...target.row.path, "spec"].join(".");
  if (target.file !== undefined) return byHand(`remove "hostNetwork" from ${field} in ${target.file}`, "workload");
  return changed(target, "remove hostNetwork from the pod", { spec: { hostNetwork: null } });
}

/** A merge patch of a pod. */
interface PodPatch {
  readonly metadata?: { readonly labels?: object; readonly annotations?: object };
  readonly spec?: object;
}

/** Returns advice to apply a merge patch to the pod, in the way that the kind of the workload allows. */
function changed(target: Target, change: string, podPatch: PodPatch): Advice {
  const { row } = target;
  const object = namedOf(target);
  const controller = controllerOf(target);
  if (controller !== undefined) {
    return look("see what to change in its controller, which creates the pods", explainInjection(controller));
  }
  if (row.kind === "Pod") {
    return harmless(`${change}, which deletes the pod and creates it again`, "workload", createAgain(object, podPatch));
  }
  if (row.kind === "Job") {
    const { metadata = {}, ...others } = podPatch;
    const labels = { ...metadata.labels, ...Object.fromEntries(GENERATED.map((key) => [key, null])) };
    const template = { ...others, metadata: { ...metadata, labels } };
    const again = `${change}: delete the Job and create it again, because its template is immutable`;
    return harmless(again, "workload", createAgain(object, { spec: { template, selector: null } }));
  }
  return harmless(change, "workload", patch(object, nested(row.path, podPatch)));
}

/** Labels that the API server sets in the template of a Job. In a new Job, it refuses these labels and the selector. */
const GENERATED = [
  "batch.kubernetes.io/controller-uid",
  "batch.kubernetes.io/job-name",
  "controller-uid",
  "job-name",
];

function nested(path: readonly string[], inner: object): object {
  return path.reduceRight<object>((all, step) => ({ [step]: all }), inner);
}

/** Returns kind, namespace, and name of the workload for commands. */
export function namedOf({ row, name, namespace }: Target): Named {
  return { kind: row.kind, name, namespace };
}

/** Returns the controller of a pod, such as `deployment/web`. A change of the pod itself would not last. */
export function controllerOf({ manifest, row, namespace }: Target): Named | undefined {
  if (row.kind !== "Pod") return undefined;
  const { kind, name } = podOwner(manifest, namespace);
  return kind === "Pod" ? undefined : { kind, name, namespace };
}

/** Kinds that `kubectl rollout restart` supports. */
const RESTARTED: readonly string[] = ["deployment", "statefulset", "daemonset"];

export function recreated(object: Named): Advice {
  const kind = object.kind.toLowerCase();
  const rest = { namespace: object.namespace, invites: true } as const;
  if (RESTARTED.includes(kind)) {
    return { ...harmless("recreate its pods", "workload", rolloutRestart(object)), ...rest };
  }
  if (kind === "pod") {
    return { ...harmless("delete the pod and create it again", "workload", createAgain(object)), ...rest };
  }
  return { ...byHand(`delete the pods of ${kind}/${object.name}, which are then recreated`, "workload"), ...rest };
}

/** Advice to recreate the live pods. Empty for Jobs, and for CronJobs, which create new pods at their next run. */
export function recreate(target: Target, live: readonly LivePod[]): readonly Advice[] {
  const { row, file, namespace, name } = target;
  if (file !== undefined || live.length === 0 || ["CronJob", "Job"].includes(row.kind)) return [];
  if (row.kind === "DeploymentConfig") {
    const command = `oc rollout latest ${shellQuoted(`dc/${name}`)} -n ${shellQuoted(namespace)}`;
    return [harmless("recreate its pods", "workload", { command, needs: [] })];
  }
  const own = recreated(namedOf(target));
  if (own.steps.length > 0 && controllerOf(target) === undefined) return [own];
  const pods = live.map(({ pod }) => remove({ kind: "pod", name: pod, namespace }));
  return [harmless("delete its pods, which are then recreated", "workload", ...pods)];
}

/** Kinds whose controllers replace pods when the template changes. A CronJob uses the new template for its next Job. */
const ROLLED_OUT: readonly string[] = ["Deployment", "StatefulSet", "DaemonSet", "DeploymentConfig", "CronJob"];

/**
 * Returns advice to take the sidecar out of a workload's manifest. A pod's live object counts as its manifest, because
 * the pod is recreated from the live object. Empty for a file, a gateway, or a Job, whose template is immutable.
 */
export function withoutSidecar(target: Target, live: readonly LivePod[]): readonly Advice[] {
  const { row, file } = target;
  const object = namedOf(target);
  const controller = controllerOf(target);
  if (file !== undefined || row.kind === "Job") return [];
  if (controller !== undefined) {
    return [look("see how to change its controller, which creates the pods", explainInjection(controller))];
  }
  if (annotationsOf(podIn(target.manifest, row))[ANNOTATION.status] === undefined) return [];
  const change = "take the sidecar out of its manifest";
  if (row.kind === "Pod") {
    return [harmless(`${change}, delete the pod and create it again`, "workload", uninject(object, { again: true }))];
  }
  const pods = ROLLED_OUT.includes(row.kind) ? [] : recreate(target, live);
  const steps = [uninject(object, { again: false }), ...pods.flatMap(({ steps }) => steps)];
  return [harmless(change, "workload", ...steps)];
}
