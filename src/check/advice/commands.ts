/**
 * Commands and the rights that each needs. Every argument is quoted for a shell, because names come from the cluster or
 * a file.
 */
import { shellQuoted } from "../../base/text/mod.ts";
import { type Advice, look, type Need, type Step } from "./advice.ts";

/** Returns a `kubectl` command with these arguments. */
export function kubectl(...args: readonly string[]): string {
  return ["kubectl", ...args].map(shellQuoted).join(" ");
}

/** Labels to set, by key. The value `undefined` removes the label. */
export type LabelChange = Readonly<Record<string, string | undefined>>;

/** Changes labels of a namespace. Removes only keys in `present`, and adds `--overwrite` only to change such keys. */
export function labelNamespace(name: string, change: LabelChange, present: Readonly<Record<string, unknown>>): Step {
  const entries = Object.entries(change).filter(([key, value]) => value !== undefined || key in present);
  const away = entries.flatMap(([key, value]) => value === undefined ? [`${key}-`] : []);
  const words = [...away, ...entries.flatMap(([key, value]) => value === undefined ? [] : [`${key}=${value}`])];
  const replaces = entries.some(([key, value]) => value !== undefined && key in present);
  return {
    command: kubectl("label", "namespace", name, ...words, ...replaces ? ["--overwrite"] : []),
    needs: [{ verb: "patch", group: "", resource: "namespaces", name }],
  };
}

/** The kind, namespace, and name of an object. The case of `kind` does not matter. */
export interface Named {
  readonly kind: string;
  readonly namespace: string;
  readonly name: string;
}

const GROUPS: Readonly<Record<string, string>> = {
  deployment: "apps",
  statefulset: "apps",
  daemonset: "apps",
  replicaset: "apps",
  job: "batch",
  cronjob: "batch",
  deploymentconfig: "apps.openshift.io",
  mutatingwebhookconfiguration: "admissionregistration.k8s.io",
  validatingwebhookconfiguration: "admissionregistration.k8s.io",
  validatingadmissionpolicy: "admissionregistration.k8s.io",
};

/** Returns the right to use a verb, such as `patch`, on an object. */
export function needOf(verb: string, { kind, namespace, name }: Named): Need {
  const small = kind.toLowerCase();
  const need = { verb, group: GROUPS[small] ?? "", resource: small.replace(/y$/, "ie") + "s", name };
  return namespace === "" ? need : { ...need, namespace };
}

/** Patches an object. */
export function patch(object: Named, change: object, type: "merge" | "strategic" = "merge"): Step {
  const words = ["patch", ref(object), ...inNamespace(object), `--type=${type}`, "-p", JSON.stringify(change)];
  return { command: kubectl(...words), needs: [needOf("patch", object)] };
}

/** Removes a label or an annotation of an object. */
export function removeString(verb: "label" | "annotate", object: Named, key: string): Step {
  return {
    command: kubectl(verb, ref(object), ...inNamespace(object), `${key}-`),
    needs: [needOf("patch", object)],
  };
}

/** Returns a command that sets a label of an object. */
export function setLabel(object: Named, key: string, value: string): Step {
  const words = ["label", ref(object), ...inNamespace(object), `${key}=${value}`, "--overwrite"];
  return { command: kubectl(...words), needs: [needOf("patch", object)] };
}

/** Deletes an object. */
export function remove(object: Named): Step {
  return { command: kubectl("delete", ref(object), ...inNamespace(object)), needs: [needOf("delete", object)] };
}

/** Returns a command that opens an object in an editor. */
export function edit(object: Named): Step {
  return {
    command: kubectl("edit", ref(object), ...inNamespace(object)),
    needs: [needOf("get", object), needOf("patch", object)],
  };
}

/** Deletes an object and creates it again, optionally with a merge patch applied. */
export function createAgain(object: Named, change?: object): Step {
  const all = [
    kubectl("get", ref(object), ...inNamespace(object), "-o", "yaml"),
    ...change === undefined
      ? []
      : [kubectl("patch", "--local", "-f", "-", "-o", "yaml", "--type=merge", "-p", JSON.stringify(change))],
    kubectl("replace", "--force", "-f", "-"),
  ];
  const { name: _all, ...create } = needOf("create", object);
  return { command: all.join(" | "), needs: [needOf("get", object), needOf("delete", object), create] };
}

/** Returns a command that copies an object to another namespace, without the metadata that the API server sets. */
export function copy(object: Named, namespace: string): Step {
  const metadata = { namespace, creationTimestamp: null, resourceVersion: null, uid: null };
  const all = [
    kubectl("get", ref(object), ...inNamespace(object), "-o", "yaml"),
    kubectl("patch", "--local", "-f", "-", "-o", "yaml", "--type=merge", "-p", JSON.stringify({ metadata })),
    kubectl("create", "-f", "-"),
  ];
  const { name: _all, ...create } = needOf("create", { ...object, namespace });
  return { command: all.join(" | "), needs: [needOf("get", object), create] };
}

/** Creates an image pull Secret from a Docker configuration file of the user. */
export function pullSecret(name: string, namespace: string, file: string): Step {
  const words = ["--type=kubernetes.io/dockerconfigjson", `--from-file=.dockerconfigjson=${file}`];
  return {
    command: kubectl("create", "secret", "generic", name, "-n", namespace, ...words),
    needs: [{ verb: "create", group: "", resource: "secrets", namespace }],
  };
}

/** Recreates the pods of a Deployment, StatefulSet or DaemonSet. */
export function rolloutRestart(object: Named): Step {
  return {
    command: kubectl("rollout", "restart", ref(object), ...inNamespace(object)),
    needs: [needOf("patch", object)],
  };
}

/** Returns a command that sets the number of replicas of a Deployment. */
export function scale(object: Named, replicas: number): Step {
  const need = needOf("patch", object);
  return {
    command: kubectl("scale", ref(object), ...inNamespace(object), `--replicas=${replicas}`),
    needs: [needOf("get", object), { ...need, resource: `${need.resource}/scale` }],
  };
}

/** Prints the log of a pod or a Deployment. */
export function logs(object: Named, ...flags: readonly string[]): Step {
  const { kind, namespace, name } = object;
  const target = kind.toLowerCase() === "pod" ? name : ref(object);
  return {
    command: kubectl("logs", "-n", namespace, target, ...flags),
    needs: [{ verb: "get", group: "", resource: "pods/log", namespace }],
  };
}

/** Runs `kubectl mesh check injection` for a workload. */
export function explainInjection({ kind, namespace, name }: Named): Step {
  const command = kubectl("mesh", "check", "injection", `${kind.toLowerCase()}/${name}`, "-n", namespace);
  return { command, needs: [] };
}

/** A read-only kubectl command that lists no needed rights. */
export function shows(...args: readonly string[]): Step {
  return { command: kubectl(...args), needs: [] };
}

/** Advice to run `kubectl describe`, which shows an object and its events. */
export function described({ kind, namespace, name }: Named): Advice {
  return look("see its status and events", shows("describe", kind, name, "-n", namespace));
}

function ref({ kind, name }: Named): string {
  return `${kind.toLowerCase()}/${name}`;
}

function inNamespace({ namespace }: Named): readonly string[] {
  return namespace === "" ? [] : ["-n", namespace];
}
