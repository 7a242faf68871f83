/** Commands that change the result. Every argument is quoted for a shell: names come from the cluster or a file. */
import { LABEL } from "../../core/mesh/annotations/labels.ts";
import { podOwner } from "../../inject/mod.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import type { Target } from "./target.ts";

/** Quotes an argument for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./=:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `kubectl` with these arguments. */
export function kubectl(...words: readonly string[]): string {
  return ["kubectl", ...words].map(shellWord).join(" ");
}

/** Sets labels of a namespace; `undefined` removes one. */
export function labelNamespace(
  name: string,
  labels: Readonly<Record<string, string | undefined>>,
  { overwrite = false } = {},
): string {
  const words = Object.entries(labels).map(([key, value]) => value === undefined ? `${key}-` : `${key}=${value}`);
  return kubectl("label", "namespace", name, ...words, ...overwrite ? ["--overwrite"] : []);
}

/** A change of the pod in a workload. */
export interface PodChange {
  readonly of: "labels" | "annotations";
  readonly key: string;
  /** `null` removes it. */
  readonly value: string | null;
}

/** The command that changes the pod's labels or annotations. A controller then recreates its pods. */
export function changePod(target: Target, { of, key, value }: PodChange): string {
  const { namespace, row } = target;
  const setting = value === null ? `${key}-` : `${key}=${value}`;
  if (target.file !== undefined) {
    const field = [...row.path, "metadata", of].join(".");
    return value === null
      ? `remove "${key}" from ${field} in ${target.file}`
      : `set "${key}" to "${value}" in ${field} in ${target.file}`;
  }
  const controller = controllerOf(target);
  if (controller !== undefined) {
    return `kubectl mesh check injection ${shellWord(controller)} -n ${shellWord(namespace)}`;
  }
  if (row.kind === "Pod") {
    const verb = of === "labels" ? "label" : "annotate";
    const change = kubectl(verb, "--local", "--overwrite", "-f", "-", "-o", "yaml", setting);
    return `${kubectl("get", named(target), "-n", namespace, "-o", "yaml")} | ${change} | ${
      kubectl("replace", "--force", "-f", "-")
    }`;
  }
  if (row.kind === "Job") {
    const field = [...row.path, "metadata", of].join(".");
    return createdAgain(target, value === null ? `without ${key} in ${field}` : `with ${setting} in ${field}`);
  }
  const patch = [...row.path, "metadata", of].reduceRight<object>((inner, step) => ({ [step]: inner }), {
    [key]: value,
  });
  return kubectl("patch", named(target), "-n", namespace, "--type=merge", "-p", JSON.stringify(patch));
}

/** The template of a Job is immutable (Kubernetes, "Jobs"). */
function createdAgain(target: Target, how: string): string {
  const command = kubectl("delete", named(target), "-n", target.namespace);
  return `${command}, and create it again ${how}: the template of a Job is immutable`;
}

function named({ row, name }: Target): string {
  return `${row.kind.toLowerCase()}/${name}`;
}

/** The controller of a pod (`deployment/web`): a change of the pod itself would not last. */
function controllerOf({ manifest, row, namespace }: Target): string | undefined {
  if (row.kind !== "Pod") return undefined;
  const { kind, name } = podOwner(manifest, namespace);
  return kind === "Pod" ? undefined : `${kind.toLowerCase()}/${name}`;
}

type Again = (target: Target, live: readonly LivePod[]) => readonly string[];

const restart: Again = (target) => [kubectl("rollout", "restart", named(target), "-n", target.namespace)];
const deletePods: Again = ({ namespace }, live) =>
  live.length === 0 ? [] : [kubectl("delete", "pod", "-n", namespace, ...live.map(({ pod }) => pod))];
const replace: Again = (target, live) =>
  controllerOf(target) !== undefined ? deletePods(target, live) : [
    `${kubectl("get", named(target), "-n", target.namespace, "-o", "yaml")} | ${
      kubectl("replace", "--force", "-f", "-")
    }`,
  ];

/** Kinds that `kubectl rollout restart` takes. */
const RESTARTED: readonly string[] = ["deployment", "statefulset", "daemonset"];

/** How to recreate the pods of a workload: a command if one exists. */
export function makeNamedAgain({ kind, namespace, name }: { kind: string; namespace: string; name: string }): string {
  const object = `${kind}/${name}`;
  if (RESTARTED.includes(kind)) return `recreate them: ${kubectl("rollout", "restart", object, "-n", namespace)}`;
  if (kind !== "pod") return `delete the pods of ${object} in the namespace "${namespace}": new ones are created`;
  const get = kubectl("get", object, "-n", namespace, "-o", "yaml");
  return `recreate them: ${get} | ${kubectl("replace", "--force", "-f", "-")}`;
}

/** How to recreate the pods of a kind. A CronJob does it at its next run. A running Job cannot be changed. */
const AGAIN: Readonly<Record<string, Again>> = {
  Pod: replace,
  Deployment: restart,
  StatefulSet: restart,
  DaemonSet: restart,
  ReplicaSet: deletePods,
  ReplicationController: deletePods,
  DeploymentConfig: (
    target,
  ) => [`oc rollout latest ${shellWord(`dc/${target.name}`)} -n ${shellWord(target.namespace)}`],
};

/** The commands that recreate the pods of a workload; none without live pods. */
export function makeAgain(target: Target, live: readonly LivePod[]): readonly string[] {
  return target.file !== undefined || live.length === 0 ? [] : AGAIN[target.row.kind]?.(target, live) ?? [];
}

type Fix = (target: Target) => readonly string[];

const ask: Fix = (target) => [changePod(target, { of: "labels", key: LABEL.inject, value: "true" })];

/** Fixes by the reason of the decision. Other reasons have no command, such as a system namespace. */
const FIXES: Readonly<Record<string, Fix>> = {
  "label-inject-false": (target) => [changePod(target, { of: "labels", key: LABEL.inject, value: null })],
  "annotation-inject-false": (target) => [changePod(target, { of: "annotations", key: LABEL.inject, value: null })],
  "never-inject-selector": ask,
  "policy-disabled": ask,
  "pod-host-network": ownNetwork,
};

/** The commands that make the webhook inject. */
export function decisionFix(reason: string, target: Target): readonly string[] {
  return FIXES[reason]?.(target) ?? [];
}

/** A pod without a controller must be recreated to change its network. */
function ownNetwork(target: Target): readonly string[] {
  const field = [...target.row.path, "spec"];
  if (target.file !== undefined) return [`remove "hostNetwork" from ${field.join(".")} in ${target.file}`];
  if (target.row.kind === "Pod") return [];
  if (target.row.kind === "Job") return [createdAgain(target, `without ${field.join(".")}.hostNetwork`)];
  const patch = field.reduceRight<object>((inner, key) => ({ [key]: inner }), { hostNetwork: null });
  const name = `${target.row.kind.toLowerCase()}/${target.name}`;
  return [kubectl("patch", name, "-n", target.namespace, "--type=merge", "-p", JSON.stringify(patch))];
}
