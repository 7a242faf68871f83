/** Commands with the rights that each needs. Names come from a cluster or a file, so every argument is quoted. */
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

/** Formats an object's reference in findings: `deployment/shop/web`. */
export function refOf({ kind, namespace, name }: Named): string {
  return `${kind.toLowerCase()}/${namespace}/${name}`;
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

export function needOf(verb: string, { kind, namespace, name }: Named): Need {
  const small = kind.toLowerCase();
  const need = { verb, group: GROUPS[small] ?? "", resource: small.replace(/y$/, "ie") + "s", name };
  return namespace === "" ? need : { ...need, namespace };
}

export function patch(object: Named, change: object, type: "merge" | "strategic" = "merge"): Step {
  const words = [`--type=${type}`, "-p", JSON.stringify(change)];
  return { command: kubectl("patch", ...at(object), ...words), needs: [needOf("patch", object)] };
}

export function removeString(verb: "label" | "annotate", object: Named, key: string): Step {
  return { command: kubectl(verb, ...at(object), `${key}-`), needs: [needOf("patch", object)] };
}

export function setLabel(object: Named, key: string, value: string): Step {
  return {
    command: kubectl("label", ...at(object), `${key}=${value}`, "--overwrite"),
    needs: [needOf("patch", object)],
  };
}

export function remove(object: Named): Step {
  return { command: kubectl("delete", ...at(object)), needs: [needOf("delete", object)] };
}

export function edit(object: Named): Step {
  return { command: kubectl("edit", ...at(object)), needs: [needOf("get", object), needOf("patch", object)] };
}

/** Deletes an object and creates it again, optionally with a merge patch applied. */
export function createAgain(object: Named, change?: object): Step {
  const command = `${read(object, change)} | ${kubectl("replace", "--force", "-f", "-")}`;
  return { command, needs: [needOf("get", object), needOf("delete", object), toCreate(object)] };
}

/** Takes the sidecar out of an object. `again`: deletes the object and creates it again. */
export function uninject(object: Named, { again }: { readonly again: boolean }): Step {
  const replaced = kubectl("replace", ...again ? ["--force"] : [], "-f", "-");
  const verbs = again ? [needOf("delete", object), toCreate(object)] : [needOf("update", object)];
  return {
    command: `${read(object, undefined)} | ${kubectl("mesh", "uninject", "-f", "-")} | ${replaced}`,
    needs: [needOf("get", object), ...verbs],
  };
}

/** Copies an object to another namespace, without the metadata that the API server sets. */
export function copy(object: Named, namespace: string): Step {
  const metadata = { namespace, creationTimestamp: null, resourceVersion: null, uid: null };
  const command = `${read(object, { metadata })} | ${kubectl("create", "-f", "-")}`;
  return { command, needs: [needOf("get", object), toCreate({ ...object, namespace })] };
}

/** Returns a command that prints an object, optionally with a merge patch applied. */
function read(object: Named, change: object | undefined): string {
  const printed = kubectl("get", ...at(object), "-o", "yaml");
  if (change === undefined) return printed;
  const patched = kubectl("patch", "--local", "-f", "-", "-o", "yaml", "--type=merge", "-p", JSON.stringify(change));
  return `${printed} | ${patched}`;
}

/** Returns the right to create objects of this kind. RBAC cannot restrict it to a name. */
function toCreate(object: Named): Need {
  const { name: _name, ...need } = needOf("create", object);
  return need;
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
  return { command: kubectl("rollout", "restart", ...at(object)), needs: [needOf("patch", object)] };
}

export function scale(object: Named, replicas: number): Step {
  const need = needOf("patch", object);
  return {
    command: kubectl("scale", ...at(object), `--replicas=${replicas}`),
    needs: [needOf("get", object), { ...need, resource: `${need.resource}/scale` }],
  };
}

/** Prints the log of a pod or a Deployment. */
export function logs(object: Named, ...flags: readonly string[]): Step {
  const { kind, namespace, name } = object;
  const target = kind.toLowerCase() === "pod" ? name : `${kind.toLowerCase()}/${name}`;
  return {
    command: kubectl("logs", "-n", namespace, target, ...flags),
    needs: [{ verb: "get", group: "", resource: "pods/log", namespace }],
  };
}

export function explainInjection(object: Named): Step {
  return shows("mesh", "check", "injection", ...at(object));
}

/** A read-only kubectl command that lists no needed rights. */
export function shows(...args: readonly string[]): Step {
  return { command: kubectl(...args), needs: [] };
}

export function described({ kind, namespace, name }: Named): Advice {
  return look("see its status and events", shows("describe", kind, name, "-n", namespace));
}

/** Returns the arguments that name an object: `deployment/web -n shop`. */
function at({ kind, namespace, name }: Named): readonly string[] {
  return [`${kind.toLowerCase()}/${name}`, ...namespace === "" ? [] : ["-n", namespace]];
}
