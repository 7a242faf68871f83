/**
 * A snapshot of the cluster objects that decide about injection. `config snapshot` writes it, `--inject-config` reads it.
 * It holds Kubernetes objects with only the fields that injection reads. The same code reads snapshots and clusters.
 */
import { MeshError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/api.ts";
import { isKubeObject } from "../../kube/client/kube_object.ts";
import { isList, isMap, mapAt, mapsAt, newMap, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import { wrongIn } from "./shape.ts";
import { SNAPSHOT_SHAPE } from "./snapshot_shape.ts";
import {
  type ClusterChoice,
  clusterNames,
  configurationIn,
  ownConfigMap,
  ownConfiguration,
  type RevisionConfiguration,
  taggedRevision,
} from "./cluster.ts";
import type { Source } from "./config.ts";
import { floats } from "./values.ts";

const API_VERSION = "kubectl-mesh/v1";
const KIND = "InjectionSnapshot";

/** The names of the control plane's namespace and ConfigMaps. */
export type SnapshotPlane = Omit<ClusterChoice, "revision"> & { readonly istioNamespace: string };

export interface InjectionSnapshot {
  readonly controlPlane: SnapshotPlane;
  readonly objects: readonly KubeObject[];
  /** The namespaces to which the snapshot is limited; empty for all namespaces. */
  readonly namespaces: readonly string[];
  /**
   * The kubelet versions: a mapping from node name to version if only some nodes support native sidecars, otherwise a
   * list. `undefined` if the nodes could not be read.
   */
  readonly kubeletVersions: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Resources that the user had no permission to read. */
  readonly unreadable: readonly Unreadable[];
  /** Names of the configuration texts in which a secret is replaced with `[redacted]`. */
  readonly withheld: readonly string[];
}

/** A part of the cluster that could not be read. */
export interface Unreadable {
  /** Plural name of the resource, such as `nodes`. */
  readonly resource: string;
  readonly namespace?: string;
  /** Name of the unreadable object. If absent: all objects of the resource that the snapshot lacks. */
  readonly name?: string;
  /** The missing permission, such as `list on nodes`. */
  readonly needs: string;
}

const HEAD =
  `# Written by "kubectl mesh config snapshot": what decides about injection in a cluster. It holds no secrets.
#   kubectl mesh inject -f web.yaml --inject-config THIS_FILE [--as-webhook]
`;

/** Returns the snapshot as text. The text is the same for the same cluster state. */
export function snapshotText(
  { controlPlane, objects, namespaces, kubeletVersions, unreadable, withheld }: InjectionSnapshot,
): string {
  const file: ValueMap = {
    apiVersion: API_VERSION,
    kind: KIND,
    controlPlane: asMap(controlPlane),
    objects: objects.toSorted((a, b) => keyOf(a) < keyOf(b) ? -1 : 1).map(asMap),
    ...namespaces.length === 0 ? {} : { namespaces: [...new Set(namespaces)].sort() },
    ...kubeletVersions && { kubeletVersions: isList(kubeletVersions) ? [...kubeletVersions] : asMap(kubeletVersions) },
    ...unreadable.length === 0 ? {} : { unreadable: unreadable.map(asMap) },
    ...withheld.length === 0 ? {} : { withheld: [...withheld] },
  };
  return `${HEAD}${toYaml(file)}`;
}

function keyOf({ kind, metadata: { namespace = "", name } }: KubeObject): string {
  return `${kind}\n${namespace}\n${name}`;
}

function asMap(record: object): ValueMap {
  const map = newMap();
  for (const [key, value] of Object.entries(record)) if (value !== undefined) map[key] = value;
  return map;
}

/**
 * Parses a snapshot; `undefined` if the text is another kind of configuration.
 * Throws a MeshError that names the field, for a damaged snapshot or an unknown version.
 */
export function snapshotIn({ text, file }: Source): InjectionSnapshot | undefined {
  if (!text.includes(KIND)) return undefined;
  const parsed = LOOKS_LIKE.test(text) ? parseYaml(text, file) : null;
  if (!isMap(parsed) || parsed["kind"] !== KIND) return undefined;
  const value = floats(parsed);
  if (value["apiVersion"] !== API_VERSION) {
    throw new MeshError(`The snapshot has the API version "${textAt(value, "apiVersion")}", not "${API_VERSION}"`, {
      place: { file, field: "apiVersion" },
      hint: 'write it again with "kubectl mesh config snapshot"',
    });
  }
  const wrong = wrongIn(value, SNAPSHOT_SHAPE);
  if (wrong !== undefined) {
    const place = { file, field: wrong.field };
    throw new MeshError(`The snapshot cannot be read: "${wrong.field}" must be ${wrong.expected}`, { place });
  }
  return {
    controlPlane: { istioNamespace: "istio-system", ...mapAt(value, "controlPlane") },
    objects: mapsAt(value, "objects").filter(isKubeObject),
    namespaces: textsAt(value, "namespaces"),
    kubeletVersions: versionsIn(value),
    unreadable: mapsAt(value, "unreadable").map(unreadableOf),
    withheld: textsAt(value, "withheld"),
  };
}

/** Matches the snapshot's `kind` in YAML or JSON, so that other files are not parsed. */
const LOOKS_LIKE = new RegExp(`(^kind|"kind")\\s*:\\s*"?${KIND}\\b`, "m");

function unreadableOf(value: ValueMap): Unreadable {
  const [namespace, name] = [textAt(value, "namespace"), textAt(value, "name")];
  return {
    resource: textAt(value, "resource"),
    ...namespace === "" ? {} : { namespace },
    ...name === "" ? {} : { name },
    needs: textAt(value, "needs"),
  };
}

function versionsIn({ kubeletVersions: versions = null }: ValueMap): InjectionSnapshot["kubeletVersions"] {
  if (versions === null) return undefined;
  const texts = Object.entries(versions).map(([name, version]) => [name, String(version)] as const);
  return isList(versions) ? texts.map(([, version]) => version) : Object.fromEntries(texts);
}

/** Returns the configuration of a revision or a tag. Throws a MeshError if the snapshot does not contain it. */
export function snapshotConfiguration(
  snapshot: InjectionSnapshot,
  name = "default",
  file = "",
): RevisionConfiguration {
  const revision = mapsIn(snapshot, name) === undefined ? taggedRevision(snapshot.objects, name) ?? name : name;
  const maps = mapsIn(snapshot, revision);
  if (maps !== undefined) return { ...maps(), revision };
  const missing = snapshot.unreadable.find(({ resource }) => resource === "configmaps");
  const available = `available revisions: ${revisionsIn(snapshot).map((each) => `"${each}"`).join(", ") || "none"}`;
  throw new MeshError(`The snapshot has no configuration for the revision "${name}"`, {
    place: { file },
    hint: missing === undefined
      ? available
      : `${available}; the snapshot was written without the permission ${missing.needs}`,
  });
}

/** Finds the ConfigMaps of a revision: Istio's two, or this program's own. `undefined` if the snapshot lacks these. */
function mapsIn({ objects, controlPlane }: InjectionSnapshot, revision: string) {
  const { namespace, injector, mesh } = clusterNames({ ...controlPlane, revision });
  const find = (wanted: string) =>
    objects.find(({ kind, metadata }) =>
      kind === "ConfigMap" && metadata.namespace === namespace && metadata.name === wanted
    );
  const [first, second, own] = [find(injector), find(mesh), find(ownConfigMap(revision))];
  if (first !== undefined && second !== undefined) return () => configurationIn(first, second);
  return own === undefined ? undefined : () => ownConfiguration(own);
}

export function revisionsIn(snapshot: InjectionSnapshot): readonly string[] {
  const injectors = snapshot.objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata: { name } }) =>
    /^(?:istio-sidecar-injector|kubectl-mesh-webhook)(?:-(.+))?$/.exec(name)
  );
  const names = injectors.flatMap((found) => found === null ? [] : [found[1] ?? "default"]);
  const chosen = snapshot.controlPlane.injectConfigMapName === undefined ? [] : ["default"];
  return [...new Set([...names, ...chosen])].filter((name) => mapsIn(snapshot, name) !== undefined).sort();
}
