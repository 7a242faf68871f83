/**
 * The part of a cluster that decides about injection, as one file: `config snapshot` writes it, `--inject-config` reads it.
 * It holds Kubernetes objects with only the fields that are read, so the same code reads a snapshot and a cluster.
 */
import { MeshError } from "../../base/errors.ts";
import type { KubeObject } from "../../kube/client/api.ts";
import { isKubeObject } from "../../kube/client/kube_object.ts";
import { isList, isMap, mapAt, mapsAt, newMap, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
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

const API_VERSION = "kubectl-mesh/v1";
const KIND = "InjectionSnapshot";

/** The names of the control plane's namespace and ConfigMaps. */
export type SnapshotPlane = Omit<ClusterChoice, "revision"> & { readonly istioNamespace: string };

/** A snapshot of a cluster. */
export interface InjectionSnapshot {
  readonly controlPlane: SnapshotPlane;
  /** ConfigMaps, MutatingWebhookConfigurations and Namespaces. */
  readonly objects: readonly KubeObject[];
  /** Versions of kubelets; by node name if only some support native sidecars. `undefined` if they could not be read. */
  readonly kubeletVersions: readonly string[] | Readonly<Record<string, string>> | undefined;
  /** Parts that the user had no right to read. */
  readonly unreadable: readonly Unreadable[];
  /** Texts whose secrets are replaced. */
  readonly withheld: readonly string[];
}

/** A part of the cluster that could not be read. */
export interface Unreadable {
  /** The plural: `nodes`. */
  readonly resource: string;
  readonly namespace?: string;
  /** Only this object; without a name, all that are not in the snapshot. */
  readonly name?: string;
  /** The missing right: `list on nodes`. */
  readonly needs: string;
}

const HEAD =
  `# Written by "kubectl mesh config snapshot": what decides about injection in a cluster. It holds no secrets.
#   kubectl mesh inject -f web.yaml --inject-config THIS_FILE [--as-webhook]
`;

/** The text of the file; the same for the same state of the cluster. */
export function snapshotText(
  { controlPlane, objects, kubeletVersions, unreadable, withheld }: InjectionSnapshot,
): string {
  const file: ValueMap = {
    apiVersion: API_VERSION,
    kind: KIND,
    controlPlane: asMap(controlPlane),
    objects: [...objects].sort((a, b) => keyOf(a) < keyOf(b) ? -1 : 1).map(asMap),
    ...kubeletVersions === undefined
      ? {}
      : { kubeletVersions: isList(kubeletVersions) ? [...kubeletVersions] : asMap(kubeletVersions) },
    ...unreadable.length === 0 ? {} : { unreadable: unreadable.map(asMap) },
    ...withheld.length === 0 ? {} : { withheld: [...withheld] },
  };
  return `${HEAD}${toYaml(file)}`;
}

function keyOf({ kind, metadata: { namespace = "", name } }: KubeObject): string {
  return `${kind}\n${namespace}\n${name}`;
}

/** Without fields that are `undefined`. */
function asMap(record: object): ValueMap {
  const map = newMap();
  for (const [key, value] of Object.entries(record)) if (value !== undefined) map[key] = value;
  return map;
}

/**
 * The snapshot in a file; `undefined` for another configuration.
 * Errors: a MeshError with the field for a snapshot that is damaged, or of another version.
 */
export function snapshotIn({ text, file }: Source): InjectionSnapshot | undefined {
  if (!text.includes(KIND)) return undefined;
  const value = LOOKS_LIKE.test(text) ? plain(parseYaml(text, file)) : null;
  if (!isMap(value) || value["kind"] !== KIND) return undefined;
  if (value["apiVersion"] !== API_VERSION) {
    throw new MeshError(`The snapshot has the version "${textAt(value, "apiVersion")}", not "${API_VERSION}"`, {
      place: { file, field: "apiVersion" },
      hint: 'make it anew with "kubectl mesh config snapshot"',
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
    kubeletVersions: versionsIn(value),
    unreadable: mapsAt(value, "unreadable").map(unreadableOf),
    withheld: textsAt(value, "withheld"),
  };
}

/** In YAML, or as JSON. */
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

function versionsIn(value: ValueMap): InjectionSnapshot["kubeletVersions"] {
  const versions = value["kubeletVersions"];
  if (versions === undefined || versions === null) return undefined;
  if (isList(versions)) return textsAt(value, "kubeletVersions");
  return Object.fromEntries(Object.entries(mapAt(value, "kubeletVersions")).map(([name, of]) => [name, String(of)]));
}

/** Numbers as JSON has them. */
function plain(value: Value): Value {
  if (typeof value === "bigint") return Number(value);
  if (isList(value)) return value.map(plain);
  if (!isMap(value)) return value;
  const map = newMap();
  for (const [key, item] of Object.entries(value)) map[key] = plain(item);
  return map;
}

/** The configuration of a revision or a tag. Errors: a MeshError for one that the snapshot does not have. */
export function snapshotConfiguration(
  snapshot: InjectionSnapshot,
  name = "default",
  file = "",
): RevisionConfiguration {
  const revision = mapsIn(snapshot, name) === undefined ? taggedRevision(snapshot.objects, name) ?? name : name;
  const maps = mapsIn(snapshot, revision);
  if (maps !== undefined) return { ...maps(), revision };
  const missing = snapshot.unreadable.find(({ resource }) => resource === "configmaps");
  const has = revisionsIn(snapshot).map((each) => `"${each}"`).join(", ");
  throw new MeshError(`The snapshot has no configuration of the revision "${name}"`, {
    place: { file },
    hint: missing === undefined ? `it has ${has || "none"}` : `it needed ${missing.needs}; it has ${has || "none"}`,
  });
}

/** Reads the ConfigMaps of a revision: Istio's, or the one of this program's webhook. `undefined` if they are not there. */
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

/** The revisions whose configuration the snapshot has. */
export function revisionsIn(snapshot: InjectionSnapshot): readonly string[] {
  const injectors = snapshot.objects.filter(({ kind }) => kind === "ConfigMap").map(({ metadata: { name } }) =>
    /^(?:istio-sidecar-injector|kubectl-mesh-webhook)(?:-(.+))?$/.exec(name)
  );
  const names = injectors.flatMap((found) => found === null ? [] : [found[1] ?? "default"]);
  const chosen = snapshot.controlPlane.injectConfigMapName === undefined ? [] : ["default"];
  return [...new Set([...names, ...chosen])].filter((name) => mapsIn(snapshot, name) !== undefined).sort();
}
