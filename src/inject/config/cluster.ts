/** The configuration that a control plane of Istio keeps in its cluster: two ConfigMaps. */
import { MeshError } from "../../core/errors.ts";
import type { KubeApi, KubeObject } from "../../core/kube/client/api.ts";
import { isMap } from "../../core/value.ts";
import { configMapEntry } from "./config_map.ts";
import type { Source } from "./injector.ts";

/** Where the ConfigMaps are. */
export interface ClusterNames {
  readonly namespace: string;
  /** The one with `config` and `values`. */
  readonly injector: string;
  /** The one with `mesh`. */
  readonly mesh: string;
}

/** What tells them; all of it may be left out. */
export interface ClusterChoice {
  readonly revision?: string | undefined;
  readonly istioNamespace?: string | undefined;
  readonly injectConfigMapName?: string | undefined;
  readonly meshConfigMapName?: string | undefined;
}

/** The names that Istio's installation uses: a revision has ConfigMaps of its own. */
export function clusterNames(choice: ClusterChoice): ClusterNames {
  const { revision = "" } = choice;
  const suffix = revision === "" || revision === "default" ? "" : `-${revision}`;
  return {
    namespace: choice.istioNamespace ?? "istio-system",
    injector: choice.injectConfigMapName ?? `${INJECTOR}${suffix}`,
    mesh: choice.meshConfigMapName ?? `${MESH}${suffix}`,
  };
}

const INJECTOR = "istio-sidecar-injector";
const MESH = "istio";

/** The parts of a configuration as they are in the cluster. */
export interface ClusterConfiguration {
  readonly config: Source;
  readonly values: Source | undefined;
  readonly mesh: Source;
}

/**
 * Reads both ConfigMaps.
 * Errors: those of the API, and a MeshError for a ConfigMap that is not there, which names those that are.
 */
export async function clusterConfiguration(api: KubeApi, names: ClusterNames): Promise<ClusterConfiguration> {
  const [injector, mesh] = await Promise.all([
    read(api, names.namespace, names.injector),
    read(api, names.namespace, names.mesh),
  ]);
  return configurationIn(injector, mesh);
}

/**
 * The configuration in two ConfigMaps.
 * Errors: a MeshError for a key that is not there.
 */
export function configurationIn(injector: KubeObject, mesh: KubeObject): ClusterConfiguration {
  return {
    config: entry(injector, "config"),
    values: isMap(injector["data"]) && "values" in injector["data"] ? entry(injector, "values") : undefined,
    mesh: entry(mesh, "mesh"),
  };
}

function entry(map: KubeObject, key: string): Source {
  const { namespace = "", name } = map.metadata;
  const file = `ConfigMap "${namespace}/${name}"`;
  return { text: configMapEntry({ ...map, kind: "ConfigMap" }, key, file) ?? "", file: `${file} (key "${key}")` };
}

/** The path of a namespace's ConfigMaps. */
export function configMapsPath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps`;
}

async function read(api: KubeApi, namespace: string, name: string): Promise<KubeObject> {
  const map = await api.get(`${configMapsPath(namespace)}/${encodeURIComponent(name)}`);
  return map ?? Promise.reject(await absent(api, namespace, name));
}

/** Says what there is instead. */
export async function absent(api: KubeApi, namespace: string, name: string): Promise<MeshError> {
  const message = `There is no ConfigMap "${name}" in the namespace "${namespace}" of ${api.server}`;
  const hint = await hintFor(api, namespace).catch(() => USUAL_HINT);
  return new MeshError(message, { hint });
}

const USUAL_HINT = "see --istioNamespace, --revision, --injectConfigMapName and --meshConfigMapName";
const LIKE_ISTIOS = /^istio(-|$)/;
const MOST_NAMES = 12;

async function hintFor(api: KubeApi, namespace: string): Promise<string> {
  const { items } = await api.list(configMapsPath(namespace));
  const names = items.map(({ metadata }) => metadata.name).filter((name) => LIKE_ISTIOS.test(name));
  if (names.length > 0) {
    const told = names.slice(0, MOST_NAMES).map((name) => `"${name}"`).join(", ");
    return `there is ${told}: choose with --revision, --injectConfigMapName and --meshConfigMapName`;
  }
  if (await api.get(`/api/v1/namespaces/${encodeURIComponent(namespace)}`) !== undefined) {
    return `the namespace has no ConfigMap of Istio: name Istio's with --istioNamespace`;
  }
  return "the namespace does not exist: name Istio's with --istioNamespace";
}
