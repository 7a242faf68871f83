/** Parses kubectl's names of workloads, such as `deployment/web`. */
import { apiPath } from "../api_path.ts";
import { closest } from "../../base/text/mod.ts";
import { UsageError } from "../../base/errors.ts";

/** A kind, its API group, and kubectl's names for the kind. The first name is part of the API path. */
export interface Resource {
  readonly kind: string;
  /** The path of the API group, such as `api/v1` or `apis/apps/v1`. */
  readonly group: string;
  readonly names: readonly string[];
}

const RESOURCES: readonly Resource[] = [
  resource("Pod", "api/v1", "po"),
  resource("Deployment", "apis/apps/v1", "deploy"),
  resource("StatefulSet", "apis/apps/v1", "sts"),
  resource("DaemonSet", "apis/apps/v1", "ds"),
  resource("ReplicaSet", "apis/apps/v1", "rs"),
  resource("ReplicationController", "api/v1", "rc"),
  resource("Job", "apis/batch/v1"),
  resource("CronJob", "apis/batch/v1", "cj"),
  resource("DeploymentConfig", "apis/apps.openshift.io/v1", "dc"),
];

function resource(kind: string, group: string, ...short: readonly string[]): Resource {
  const name = kind.toLowerCase();
  return { kind, group, names: [`${name}s`, name, ...short] };
}

/** Parses `KIND/NAME`. `more`: further kinds to accept. Throws a UsageError that lists the kinds. */
export function readWorkloadName(
  text: string,
  more: readonly Resource[] = [],
): { readonly path: (namespace: string) => string; readonly kind: string; readonly name: string } {
  const [, word = "", name = ""] = /^([A-Za-z]+(?:\.[A-Za-z0-9.]+)?)\/([^/]+)$/.exec(text) ?? [];
  if (name === "") {
    throw new UsageError(`"${text}" is not a workload`, { hint: "use KIND/NAME, such as deployment/web" });
  }
  const plain = word.toLowerCase().split(".", 1)[0] ?? "";
  const known = [...RESOURCES, ...more];
  const found = known.find(({ names }) => names.includes(plain));
  if (found === undefined) throw unknownKind(word, known);
  const { kind, group, names: [plural = ""] } = found;
  const path = (namespace: string) => apiPath(group, plural, namespace, name);
  return { kind, path, name };
}

/** Returns the kinds that `KIND/NAME` accepts, such as `deployment`. */
export function workloadKinds(): string[] {
  return RESOURCES.flatMap(({ names: [, name = ""] }) => name);
}

/** Returns the API path of all objects of a kind in a namespace; `undefined` for an unknown kind. */
export function workloadCollection(word: string, namespace: string): string | undefined {
  const found = RESOURCES.find(({ names }) => names.includes(word.toLowerCase()));
  return found && apiPath(found.group, found.names[0] ?? "", namespace);
}

function unknownKind(word: string, resources: readonly Resource[]): UsageError {
  const known = resources.flatMap(({ names: [, name = ""] }) => name);
  const meant = closest(word.toLowerCase(), known);
  return new UsageError(`The kind "${word}" is not a known workload kind`, {
    hint: meant === undefined ? `use one of ${known.join(", ")}` : `did you mean "${meant}"?`,
  });
}
