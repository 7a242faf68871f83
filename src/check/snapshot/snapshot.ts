/** Builds an `InjectionSnapshot`: the objects that injection depends on, and a list of those that are forbidden. */
import { apiPath } from "../../kube/api_path.ts";
import { MeshError } from "../../base/errors.ts";
import {
  isMutatingWebhookConfiguration,
  type KubeApi,
  type KubeObject,
  type MutatingWebhookConfiguration,
} from "../../kube/client/mod.ts";
import type { Progress } from "../../platform/progress.ts";
import { LABEL } from "../../istio/annotations/labels.ts";
import { Redactor } from "../../kube/redact/mod.ts";
import { isMap, mapAt, mapsAt, type ValueMap } from "../../base/value.ts";
import { parseYaml, toYaml } from "../../yaml/mod.ts";
import {
  absent,
  clusterNames,
  type InjectionSnapshot,
  kubeletVersion,
  nativeNodes,
  ownConfigMap,
  type SnapshotPlane,
  type Unreadable,
} from "../../inject/mod.ts";
import { controlPlanes } from "../inventory/control_planes.ts";
import { injectorWebhooks } from "../inventory/injector_webhooks.ts";
import { nodeKeeper } from "../inventory/kept_fields.ts";
import { isKnown, observe, reason } from "../inventory/observed.ts";
import { noNamespace } from "../inventory/source.ts";

export interface SnapshotQuestion {
  readonly controlPlane: SnapshotPlane;
  /** Namespaces to read; an empty list means all namespaces. */
  readonly namespaces: readonly string[];
}

/**
 * Takes a snapshot of a cluster. Throws errors of the API except for missing rights, and a MeshError if the user has no
 * rights at all, if there is no injector, or if a named namespace does not exist.
 */
export async function snapshotInjection(
  api: KubeApi,
  question: SnapshotQuestion,
  progress: Pick<Progress, "at" | "now">,
): Promise<InjectionSnapshot> {
  const reader = new Reader(api, progress);
  const { controlPlane } = question;
  const webhooks = await webhookConfigurations(reader);
  const maps = await configMaps(reader, controlPlane, webhooks);
  const [namespaces, nodes] = await Promise.all([namespacesOf(reader, question.namespaces), nodesOf(reader)]);
  const unreadable = reader.unreadable.toSorted((a, b) => a.needs < b.needs ? -1 : 1);
  if (maps.length === 0 && !unreadable.some(({ resource }) => resource === "configmaps")) {
    const { namespace, injector } = clusterNames(controlPlane);
    throw await absent(api, namespace, injector);
  }
  const withheld: string[] = [];
  const objects = [...maps.map((map) => withoutSecrets(map, withheld)), ...webhooks ?? [], ...namespaces ?? []];
  if (maps.length === 0 && (webhooks ?? []).length === 0) {
    const rights = unreadable.map(({ needs }) => needs).join(", ");
    throw new MeshError(`No part of the injection configuration can be read; missing rights: ${rights}`, {
      hint: '"kubectl mesh check --rbac" prints the rights',
    });
  }
  return { controlPlane, objects, namespaces: question.namespaces, kubeletVersions: nodes, unreadable, withheld };
}

/** Sends requests to the API, and records forbidden reads. */
class Reader {
  readonly unreadable: Unreadable[] = [];

  #asked = 0;
  #answered = 0;

  constructor(readonly api: KubeApi, private readonly progress: Pick<Progress, "at" | "now">) {}

  /** Returns `undefined` for a forbidden read. Throws other failures: a partial snapshot must not look complete. */
  async read<T>(what: Unreadable, ask: () => Promise<T>): Promise<T | undefined> {
    const observed = await this.try(what.needs, ask);
    if (observed !== undefined) return observed.value;
    if (!this.unreadable.some((each) => JSON.stringify(each) === JSON.stringify(what))) this.unreadable.push(what);
    return undefined;
  }

  /** Does the same as `read`, but does not record a forbidden read. */
  async try<T>(needs: string, ask: () => Promise<T>): Promise<{ readonly value: T } | undefined> {
    this.progress.now(needs);
    this.progress.at(this.#answered, ++this.#asked);
    const observed = await observe(needs, ask);
    this.progress.at(++this.#answered, this.#asked);
    if (isKnown(observed)) return observed;
    if ("forbidden" in observed) return undefined;
    throw new MeshError(reason(observed));
  }
}

const WEBHOOKS = "mutatingwebhookconfigurations";

async function webhookConfigurations(reader: Reader): Promise<readonly MutatingWebhookConfiguration[] | undefined> {
  const needs = `list on ${WEBHOOKS}`;
  const list = await reader.read({ resource: WEBHOOKS, needs }, () => {
    return reader.api.list(`/apis/admissionregistration.k8s.io/v1/${WEBHOOKS}`);
  });
  const all = list?.items.filter(isMutatingWebhookConfiguration);
  return all?.filter((each) => injectorWebhooks([each]).length > 0).map(cutDown);
}

const WEBHOOK_FIELDS = [
  "name",
  "failurePolicy",
  "reinvocationPolicy",
  "timeoutSeconds",
  "namespaceSelector",
  "objectSelector",
  "matchConditions",
  "rules",
] as const;

/** Keeps the labels and fields that injection depends on. Drops the caBundle, because the control plane renews it. */
function cutDown(configuration: MutatingWebhookConfiguration): MutatingWebhookConfiguration {
  const { apiVersion, kind, metadata: { name, labels = {} }, webhooks = [] } = configuration;
  const kept = webhooks.filter((webhook) => injectorWebhooks([{ ...configuration, webhooks: [webhook] }]).length > 0);
  return {
    apiVersion,
    kind,
    metadata: { name, labels: chosen(labels, ["app", LABEL.revision, LABEL.tag]) },
    webhooks: kept.map((webhook) => ({
      ...chosen(webhook, WEBHOOK_FIELDS),
      clientConfig: chosen(webhook.clientConfig ?? {}, ["service", "url"]),
    })),
  };
}

function chosen<T extends object, Key extends keyof T>(record: T, keys: readonly Key[]): Pick<T, Key> {
  const entries = Object.entries(record).filter(([key]) => keys.some((each) => each === key));
  // A type guard cannot verify a mapped type.
  return Object.fromEntries(entries) as Pick<T, Key>;
}

/** Reads ConfigMaps of the chosen control plane, of the webhooks' control planes, and of the namespace's revisions. */
async function configMaps(
  reader: Reader,
  controlPlane: SnapshotPlane,
  webhooks: readonly MutatingWebhookConfiguration[] | undefined,
): Promise<readonly KubeObject[]> {
  const planes = controlPlanes(injectorWebhooks(webhooks ?? []), controlPlane);
  const listed = await revisionsIn(reader, controlPlane, webhooks !== undefined);
  const usual = ["default", ...listed].map((revision) => {
    return { names: clusterNames({ ...controlPlane, revision }), own: ownConfigMap(revision) };
  });
  const wanted = [...usual, ...planes].flatMap(({ names: { namespace, injector, mesh } }) => {
    return [injector, mesh].map((name) => ({ namespace, name }));
  });
  const own = [...planes, ...usual].flatMap(({ names: { namespace }, own }) => {
    return own === undefined ? [] : [{ namespace, name: own }];
  });
  const all = new Map([...wanted, ...own].map((each) => [`${each.namespace}/${each.name}`, each]));
  const found = await Promise.all([...all.values()].map(({ namespace, name }) => {
    const needs = `get on configmaps in the namespace "${namespace}"`;
    return reader.read({ resource: "configmaps", namespace, needs }, () => {
      return reader.api.get(apiPath("api/v1", "configmaps", namespace, name));
    });
  }));
  return found.filter((each) => each !== undefined);
}

/** Returns the revisions that ConfigMaps name. Optional if the webhooks are known, because these name revisions too. */
async function revisionsIn(
  reader: Reader,
  { istioNamespace }: SnapshotPlane,
  hasWebhooks: boolean,
): Promise<readonly string[]> {
  const needs = `list on configmaps in the namespace "${istioNamespace}"`;
  const ask = () => reader.api.list(apiPath("api/v1", "configmaps", istioNamespace), {}, nameAlone);
  const list = hasWebhooks
    ? (await reader.try(needs, ask))?.value
    : await reader.read({ resource: "configmaps", namespace: istioNamespace, needs }, ask);
  const names = list?.items.map(({ metadata: { name } }) => OF_REVISION.exec(name)?.[1]) ?? [];
  return names.filter((name) => name !== undefined);
}

function nameAlone({ apiVersion, kind, metadata: { name } }: KubeObject): KubeObject {
  return { apiVersion, kind, metadata: { name } };
}

/** Matches the ConfigMap names of Istio and of this program's webhook, and captures the revision. */
const OF_REVISION = /^(?:istio-sidecar-injector|kubectl-mesh-webhook)-(.+)$/;

const TEXTS = ["config", "values", "mesh"];

/** Returns a ConfigMap with only the keys that injection reads. Replaces secrets in values and mesh configuration. */
function withoutSecrets(map: KubeObject, withheld: string[]): KubeObject {
  const { metadata: { name, namespace = "" } } = map;
  const data: ValueMap = {};
  for (const [key, text] of Object.entries(mapAt({ ...map }, "data"))) {
    if (!TEXTS.includes(key) || typeof text !== "string") continue;
    const redactor = new Redactor();
    // A template is not YAML, so only text in the form of a credential is replaced.
    data[key] = key === "config" ? redactor.credentials(text) : withoutFields(text, redactor);
    if (redactor.removed.length > 0) withheld.push(`configmap/${namespace}/${name}: ${key}`);
  }
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace }, data };
}

/** Replaces secrets in a text. Accepts invalid YAML, because it fails only when a user injects with it. */
function withoutFields(text: string, redactor: Redactor): string {
  try {
    const value = redactor.value(parseYaml(text, ""));
    return redactor.removed.length === 0 ? text : toYaml(value);
  } catch (error) {
    if (error instanceof MeshError) return redactor.text(text);
    throw error;
  }
}

async function namespacesOf(reader: Reader, names: readonly string[]): Promise<readonly KubeObject[] | undefined> {
  const resource = "namespaces";
  if (names.length === 0) {
    const ask = () => reader.api.list("/api/v1/namespaces", {}, labelsAlone);
    return (await reader.read({ resource, needs: "list on namespaces" }, ask))?.items;
  }
  const found = await Promise.all(names.map((name) => {
    const needs = `get on namespaces "${name}"`;
    return reader.read({ resource, name, needs }, async () => {
      const namespace = await reader.api.get(apiPath("api/v1", "namespaces", undefined, name));
      if (namespace !== undefined) return labelsAlone(namespace);
      throw noNamespace(name);
    });
  }));
  return found.filter((each) => each !== undefined);
}

function labelsAlone({ metadata: { name, labels } }: KubeObject): KubeObject {
  return { apiVersion: "v1", kind: "Namespace", metadata: { name, ...isMap(labels) ? { labels } : {} } };
}

/** Returns kubelet versions. Adds the names of nodes only if some, but not all, kubelets support native sidecars. */
async function nodesOf(reader: Reader): Promise<InjectionSnapshot["kubeletVersions"]> {
  const list = await reader.read({ resource: "nodes", needs: "list on nodes" }, () => {
    return reader.api.list("/api/v1/nodes", { limit: "50" }, nodeKeeper());
  });
  if (list === undefined) return undefined;
  const nodes = mapsAt({ items: list.items.map((node) => ({ ...node })) }, "items");
  const { byName, all } = nativeNodes(nodes);
  const isMixed = !all && Object.values(byName).includes(true);
  if (!isMixed) return [...new Set(nodes.map(kubeletVersion))].sort();
  return Object.fromEntries(list.items.map((node) => [node.metadata.name, kubeletVersion({ ...node })]));
}
