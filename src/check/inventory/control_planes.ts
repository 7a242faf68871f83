/** The control planes behind the webhooks, and their configuration. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { type ConfigMap, isConfigMap, type KubeApi, type MutatingWebhookConfiguration } from "../../kube/client/mod.ts";
import type { World } from "../../platform/mod.ts";
import {
  type ClusterChoice,
  type ClusterConfiguration,
  type ClusterNames,
  clusterNames,
  configurationIn,
  configurationOf,
  type Injector,
  newInjector,
  ownConfigMap,
  ownConfiguration,
} from "../../inject/mod.ts";
import { type InjectorWebhook, injectorWebhooks } from "./injector_webhooks.ts";
import { isKnown, type Known, type Observed, once } from "./observed.ts";
import { nameKeeper } from "./kept_fields.ts";
import { listOf, objectOf } from "./source.ts";

/** A control plane. */
export interface ControlPlane {
  /** `default` for an unnamed revision. */
  readonly revision: string;
  readonly names: ClusterNames;
  /** The ConfigMap of this program's webhook, if the Service belongs to it. */
  readonly own: string | undefined;
  /** No webhook calls it, as far as that is known: its ConfigMaps may be Istio's or this program's. */
  readonly isGuess?: true;
}

/** The names of Service and ConfigMap in `webhook manifests`. */
export const OURS = /^kubectl-mesh-webhook(-|$)/;

/** The distinct control planes that webhooks call. Without webhooks: the chosen one. */
export function controlPlanes(webhooks: readonly InjectorWebhook[], choice: ClusterChoice): readonly ControlPlane[] {
  const { revision } = choice;
  const wanted = webhooks.filter((webhook) => revision === undefined || webhook.revision === revision);
  if (wanted.length === 0) {
    return [{ revision: revision ?? "default", names: clusterNames(choice), own: undefined, isGuess: true }];
  }
  const planes = wanted.map((webhook) => controlPlaneOf(webhook, choice));
  return [...new Map(planes.map((plane) => [planeKey(plane), plane])).values()];
}

/** The control plane of a webhook. Its configuration is in the namespace of its Service. */
export function controlPlaneOf({ revision, target }: InjectorWebhook, choice: ClusterChoice): ControlPlane {
  const service = "name" in target ? target : undefined;
  const istioNamespace = service?.namespace ?? choice.istioNamespace;
  const own = service !== undefined && OURS.test(service.name) ? service.name : undefined;
  return { revision, names: clusterNames({ ...choice, revision, istioNamespace }), own };
}

/** The identity of a control plane. */
export function planeKey({ revision, names, own }: ControlPlane): string {
  return [revision, names.namespace, names.injector, names.mesh, own ?? ""].join(" ");
}

type ConfigMapReader = (namespace: string, name: string) => Promise<Observed<ConfigMap | undefined>>;

/** The configuration of a control plane, and its ConfigMaps. */
export interface PlaneTexts extends ClusterConfiguration {
  /** The ConfigMap with `config` and `values`: `configmap/istio-system/istio-sidecar-injector`. */
  readonly injectorRef: string;
  /** The ConfigMap with `mesh`. */
  readonly meshRef: string;
}

/** Reads this program's ConfigMap, else Istio's two. */
async function planeTexts(plane: ControlPlane, read: ConfigMapReader): Promise<Observed<PlaneTexts>> {
  const { namespace, injector, mesh } = plane.names;
  const own = plane.own === undefined ? undefined : await read(namespace, plane.own);
  if (own !== undefined && !isKnown(own)) return own;
  if (own?.value !== undefined) return inOwn(own.value);
  const [first, second] = await Promise.all([read(namespace, injector), read(namespace, mesh)]);
  if (!isKnown(first)) return first;
  if (!isKnown(second)) return second;
  if (first.value === undefined) return await guessed(plane, read) ?? missing(plane, injector);
  return second.value === undefined ? missing(plane, mesh) : together(first.value, second.value);
}

/** If no webhook is known, looks for the ConfigMap of this program's webhook. */
async function guessed(
  { isGuess, revision, names }: ControlPlane,
  read: ConfigMapReader,
): Promise<Observed<PlaneTexts> | undefined> {
  const found = isGuess === true ? await read(names.namespace, ownConfigMap(revision)) : undefined;
  return found === undefined || !isKnown(found) || found.value === undefined ? undefined : inOwn(found.value);
}

/** This program's ConfigMap comes first. */
function missing({ names: { namespace }, own, revision }: ControlPlane, name: string): Observed<never> {
  const where = `in the namespace "${namespace}"`;
  const broken = own === undefined
    ? `There is no ConfigMap "${name}" ${where}; the injector of the revision "${revision}" is not installed, or ` +
      "elsewhere (--istioNamespace, --revision)"
    : `There is neither the ConfigMap "${own}" nor "${name}" ${where}; apply the output of "kubectl mesh webhook manifests"`;
  return { broken, object: `configmap/${namespace}/${own ?? name}` };
}

function inOwn(map: ConfigMap): Observed<PlaneTexts> {
  const ref = refOf(map);
  return attempt(ref, () => ({ ...ownConfiguration(map), injectorRef: ref, meshRef: ref }));
}

function together(injector: ConfigMap, mesh: ConfigMap): Observed<PlaneTexts> {
  const [injectorRef, meshRef] = [refOf(injector), refOf(mesh)];
  return attempt(injectorRef, () => ({ ...configurationIn(injector, mesh), injectorRef, meshRef }));
}

function refOf({ metadata: { namespace = "", name } }: ConfigMap): string {
  return `configmap/${namespace}/${name}`;
}

/** The value, or the message of a MeshError. */
function attempt<T>(object: string, make: () => T): Observed<T> {
  try {
    return { value: make() };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { broken: errorLine(error), object };
  }
}

/** A control plane, and its configuration as far as it is known. */
export interface ObservedPlane {
  readonly plane: ControlPlane;
  readonly texts: Observed<PlaneTexts>;
  /** The injector of its webhook. */
  readonly injector: Observed<Injector>;
}

/** What the inventory of control planes needs. */
export interface PlaneSource {
  readonly api: Pick<KubeApi, "get" | "list">;
  readonly clock: Pick<World["clock"], "now">;
  /** `namespace` limits workloads; `undefined` is all. */
  readonly scope: ClusterChoice & { readonly namespace?: string | undefined };
}

/**
 * The control planes that webhooks call, with their configuration. Gets ConfigMaps by name: no right to list is needed.
 */
export function injectorInventory(
  source: PlaneSource,
  mutatingWebhooks: () => Promise<Observed<readonly MutatingWebhookConfiguration[]>>,
) {
  const maps = new Map<string, () => Promise<Observed<ConfigMap | undefined>>>();
  const configMap = (namespace: string, name: string) => {
    const key = `${namespace}/${name}`;
    const get = maps.get(key) ??
      once(() => objectOf(source, ["api/v1", "configmaps"], isConfigMap, { namespace, name }));
    maps.set(key, get);
    return get();
  };
  const load = async (plane: ControlPlane): Promise<ObservedPlane> => {
    const texts = await planeTexts(plane, configMap);
    const injector = isKnown(texts) ? injectorOf(texts.value, plane.revision, source.clock) : texts;
    return { plane, texts, injector };
  };
  const namespacesWith = new Map<string, () => Promise<Observed<ReadonlySet<string>>>>();
  const listed = (name: string) => {
    const list = namespacesWith.get(name) ?? once(() => namespacesOf(source, name));
    namespacesWith.set(name, list);
    return list();
  };
  return {
    configMap,
    /** Whether a namespace has a ConfigMap: one request for all namespaces, or one for each if that is not allowed. */
    hasConfigMap: async (namespace: string, name: string): Promise<Observed<boolean>> => {
      const all = source.scope.namespace === undefined ? await listed(name) : undefined;
      if (all !== undefined && isKnown(all)) return { value: all.value.has(namespace) };
      const map = await configMap(namespace, name);
      return isKnown(map) ? { value: map.value !== undefined } : map;
    },
    /** By `planeKey`. Without known webhooks: the control plane of the scope. */
    planes: once(async (): Promise<Known<ReadonlyMap<string, ObservedPlane>>> => {
      const webhooks = await mutatingWebhooks();
      const found = controlPlanes(isKnown(webhooks) ? injectorWebhooks(webhooks.value) : [], source.scope);
      const loaded = await Promise.all(found.map(load));
      return { value: new Map(loaded.map((each) => [planeKey(each.plane), each])) };
    }),
  };
}

/** The namespaces that have a ConfigMap of a name. RBAC allows such a list by the name (`resourceNames`). */
async function namespacesOf(source: PlaneSource, name: string): Promise<Observed<ReadonlySet<string>>> {
  const maps = await listOf(source, "api/v1", "configmaps", {
    isKind: isConfigMap,
    query: { fieldSelector: `metadata.name=${name}` },
    keep: nameKeeper(),
  });
  if (!isKnown(maps)) return maps;
  const own = maps.value.filter(({ metadata }) => metadata.name === name);
  return { value: new Set(own.map(({ metadata: { namespace = "" } }) => namespace)) };
}

export type InjectorInventory = ReturnType<typeof injectorInventory>;

/** The injector of a control plane. The environment of its process is unknown and counts as empty. */
function injectorOf(texts: PlaneTexts, revision: string, clock: PlaneSource["clock"]): Observed<Injector> {
  return attempt(texts.injectorRef, () =>
    newInjector({
      ...configurationOf(texts),
      revision,
      byHand: false,
      env: () => undefined,
      now: () => clock.now(),
    }));
}
