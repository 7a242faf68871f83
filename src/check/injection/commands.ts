/** Commands that change what decided. What is in them is of the cluster or a file: each word is quoted for a shell. */
import { podOwner } from "../../inject/mod.ts";
import type { LivePod } from "../inventory/live_pods.ts";
import type { Target } from "./target.ts";

/** A word for a POSIX shell. */
export function shellWord(text: string): string {
  return /^[\w./=:@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** `kubectl` with these words. */
export function kubectl(...words: readonly string[]): string {
  return ["kubectl", ...words].map(shellWord).join(" ");
}

/** Labels of a namespace; `undefined` takes one away. */
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
  /** `null` takes it away. */
  readonly value: string | null;
}

/** The command that changes the pod's labels or annotations; a controller then makes its pods anew by itself. */
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
  const patch = [...row.path, "metadata", of].reduceRight<object>((inner, step) => ({ [step]: inner }), {
    [key]: value,
  });
  return kubectl("patch", named(target), "-n", namespace, "--type=merge", "-p", JSON.stringify(patch));
}

function named({ row, name }: Target): string {
  return `${row.kind.toLowerCase()}/${name}`;
}

/** `deployment/web` for a pod that something made: a change of the pod itself would not last. */
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

/** Kinds whose pods kubectl makes anew by itself, by their names in commands. */
const RESTARTED: readonly string[] = ["deployment", "statefulset", "daemonset"];

/** How the pods of what is only known by its name are made anew: the command, where one does it. */
export function makeNamedAgain({ kind, namespace, name }: { kind: string; namespace: string; name: string }): string {
  const object = `${kind}/${name}`;
  if (RESTARTED.includes(kind)) return `recreate them: ${kubectl("rollout", "restart", object, "-n", namespace)}`;
  if (kind !== "pod") return `delete the pods of ${object} in the namespace "${namespace}": new ones are created`;
  const get = kubectl("get", object, "-n", namespace, "-o", "yaml");
  return `recreate them: ${get} | ${kubectl("replace", "--force", "-f", "-")}`;
}

/** How a kind makes its pods anew; a CronJob does at its next run, and a Job's pod cannot be changed while it runs. */
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

/** The commands that make the pods of a workload anew; none for one that has no pods yet. */
export function makeAgain(target: Target, live: readonly LivePod[]): readonly string[] {
  return target.file !== undefined || live.length === 0 ? [] : AGAIN[target.row.kind]?.(target, live) ?? [];
}
