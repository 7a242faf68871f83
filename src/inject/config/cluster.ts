/** Reads the injector's configuration from the cluster. Istio keeps it in two ConfigMaps. */
import { apiPath } from "../../kube/api_path.ts";
import { MeshError } from "../../base/errors.ts";
import type { KubeApi, KubeObject } from "../../kube/client/api.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { isMap } from "../../base/value.ts";
import { configMapEntry } from "./config_map.ts";
import type { Source } from "./config.ts";

/** Names of the two ConfigMaps that hold a revision's configuration. */
export interface ClusterNames {
  readonly namespace: string;
  /** Name of the ConfigMap that contains `config` and `values`. */
  readonly injector: string;
  /** Name of the ConfigMap that contains `mesh`. */
  readonly mesh: string;
}

/** The user's flags. `clusterNames` derives the names of the ConfigMaps from these. */
export interface ClusterChoice {
  readonly revision?: string | undefined;
  readonly istioNamespace?: string | undefined;
  readonly injectConfigMapName?: string | undefined;
  readonly meshConfigMapName?: string | undefined;
}

/** Returns the names that Istio's installation uses: each revision has its own ConfigMaps. */
export function clusterNames(choice: ClusterChoice): ClusterNames {
  return {
    namespace: choice.istioNamespace ?? "istio-system",
    injector: choice.injectConfigMapName ?? nameFor("istio-sidecar-injector", choice.revision),
    mesh: choice.meshConfigMapName ?? nameFor("istio", choice.revision),
  };
}

function nameFor(base: string, revision = ""): string {
  return revision === "" || revision === "default" ? base : `${base}-${revision}`;
}

/** The configuration that a control plane keeps in its ConfigMaps, as text. */
export interface ClusterConfiguration {
  readonly config: Source;
  readonly values: Source | undefined;
  readonly mesh: Source;
}

export interface RevisionConfiguration extends ClusterConfiguration {
  readonly revision: string;
}

/**
 * Reads both ConfigMaps.
 * Throws API errors. If a ConfigMap is missing, throws a MeshError whose hint lists the ConfigMaps that exist.
 */
export async function clusterConfiguration(api: KubeApi, names: ClusterNames): Promise<ClusterConfiguration> {
  const [injector, mesh] = await Promise.all([
    read(api, names.namespace, names.injector),
    read(api, names.namespace, names.mesh),
  ]);
  return configurationIn(injector, mesh);
}

/** Returns the name of the ConfigMap that this program's webhook uses. */
export function ownConfigMap(revision: string): string {
  return nameFor("kubectl-mesh-webhook", revision);
}

/** Reads `config`, `values` and `mesh` from this program's ConfigMap. `mesh` is optional. Errors: see `configurationIn`. */
export function ownConfiguration(map: KubeObject): ClusterConfiguration {
  const data = isMap(map["data"]) ? map["data"] : {};
  return configurationIn(map, "mesh" in data ? map : { ...map, data: { ...data, mesh: "" } });
}

/**
 * Reads the configuration of a revision or a tag. If Istio's ConfigMaps are missing and no flag names a ConfigMap,
 * reads the ConfigMap of this program's webhook. Errors: see `clusterConfiguration`.
 */
export async function revisionConfiguration(api: KubeApi, choice: ClusterChoice): Promise<RevisionConfiguration> {
  const { revision = "default", injectConfigMapName, meshConfigMapName } = choice;
  const isNamed = injectConfigMapName !== undefined || meshConfigMapName !== undefined;
  const of = async (name: string) => {
    const names = clusterNames({ ...choice, revision: name });
    try {
      return { ...await clusterConfiguration(api, names), revision: name };
    } catch (error) {
      if (!(error instanceof AbsentError) || isNamed) throw error;
      const own = await api.get(apiPath("api/v1", "configmaps", names.namespace, ownConfigMap(name)));
      if (own === undefined) throw error;
      return { ...ownConfiguration(own), revision: name };
    }
  };
  try {
    return await of(revision);
  } catch (error) {
    const tagged = error instanceof AbsentError ? await revisionOfTag(api, revision) : undefined;
    if (tagged === undefined || tagged === revision) throw error;
    return await of(tagged);
  }
}

/**
 * Returns the revision of a tag. Returns `undefined` if the webhooks are unreadable, so that the user sees the error about
 * the missing ConfigMap.
 */
async function revisionOfTag(api: KubeApi, tag: string): Promise<string | undefined> {
  try {
    return taggedRevision((await api.list(WEBHOOKS_PATH)).items, tag);
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

const WEBHOOKS_PATH = "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations";

/** The revision that a tag points to, from the labels of its webhooks; `undefined` if no webhook has this tag. */
export function taggedRevision(webhooks: readonly KubeObject[], tag: string): string | undefined {
  const labels = webhooks.map(({ metadata }) => metadata["labels"]).filter(isMap);
  const found = labels.find((each) => each[LABEL.tag] === tag)?.[LABEL.revision];
  return typeof found === "string" ? found : undefined;
}

/** Extracts the configuration from the two ConfigMaps. Throws a MeshError for a missing key. */
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

async function read(api: KubeApi, namespace: string, name: string): Promise<KubeObject> {
  const map = await api.get(apiPath("api/v1", "configmaps", namespace, name));
  return map ?? Promise.reject(await absent(api, namespace, name));
}

class AbsentError extends MeshError {}

/** Builds the error for a missing ConfigMap. Its hint lists the ConfigMaps that exist. */
export async function absent(api: KubeApi, namespace: string, name: string): Promise<MeshError> {
  const message = `The ConfigMap "${name}" does not exist in the namespace "${namespace}" of ${api.server}`;
  const hint = await hintFor(api, namespace).catch(() => USUAL_HINT);
  return new AbsentError(message, { hint });
}

const USUAL_HINT = "see --istioNamespace, --revision, --injectConfigMapName and --meshConfigMapName";
const LIKE_ISTIOS = /^istio(-|$)(?!ca-root-cert)/;
const MAX_NAMES = 12;

async function hintFor(api: KubeApi, namespace: string): Promise<string> {
  const { items } = await api.list(apiPath("api/v1", "configmaps", namespace));
  const names = items.map(({ metadata }) => metadata.name).filter((name) => LIKE_ISTIOS.test(name));
  if (names.length === 0) {
    return "the namespace has no ConfigMap of Istio, or does not exist: set Istio's namespace with --istioNamespace";
  }
  const found = names.slice(0, MAX_NAMES).map((name) => `"${name}"`).join(", ");
  return `found ${found}: choose with --revision, --injectConfigMapName and --meshConfigMapName`;
}
