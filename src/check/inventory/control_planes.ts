/** Reads the configuration of the control planes behind the webhooks. */
import { errorLine, MeshError } from "../../base/errors.ts";
import { type ConfigMap, isConfigMap, type KubeApi } from "../../kube/client/mod.ts";
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
import type { InjectorWebhook } from "./injector_webhooks.ts";
import { isKnown, type Known, mapKnown, type Observed, once, oncePerKey } from "./observed.ts";
import { nameKeeper } from "./kept_fields.ts";
import { listOf, objectOf, type Place } from "./source.ts";

export interface ControlPlane {
  /** The revision; `default` for an unnamed revision. */
  readonly revision: string;
  readonly names: ClusterNames;
  /** The ConfigMap of this program's webhook; `undefined` if the Service belongs to istiod. */
  readonly own: string | undefined;
  /** No known webhook calls this control plane. Its ConfigMaps may be Istio's or this program's. */
  readonly isGuess?: true;
}

/** Matches the names that `webhook manifests` gives to Services and ConfigMaps. */
export const OURS = /^kubectl-mesh-webhook(-|$)/;

/** Returns the distinct control planes that webhooks call or, without webhooks, the user's choice. */
export function controlPlanes(webhooks: readonly InjectorWebhook[], choice: ClusterChoice): readonly ControlPlane[] {
  const { revision } = choice;
  const wanted = webhooks.filter((webhook) => revision === undefined || webhook.revision === revision);
  if (wanted.length === 0) {
    return [{ revision: revision ?? "default", names: clusterNames(choice), own: undefined, isGuess: true }];
  }
  const planes = wanted.map((webhook) => controlPlaneOf(webhook, choice));
  return [...new Map(planes.map((plane) => [planeKey(plane), plane])).values()];
}

/** Returns the control plane of a webhook. Its ConfigMaps are in the namespace of its Service. */
export function controlPlaneOf({ revision, target }: InjectorWebhook, choice: ClusterChoice): ControlPlane {
  const service = "name" in target ? target : undefined;
  const istioNamespace = service?.namespace ?? choice.istioNamespace;
  const own = service !== undefined && OURS.test(service.name) ? service.name : undefined;
  return { revision, names: clusterNames({ ...choice, revision, istioNamespace }), own };
}

export function planeKey({ revision, names, own }: ControlPlane): string {
  return [revision, names.namespace, names.injector, names.mesh, own ?? ""].join(" ");
}

type ConfigMapReader = (namespace: string, name: string) => Promise<Observed<ConfigMap | undefined>>;

/** The configuration of a control plane, and the references of its ConfigMaps. */
export interface PlaneTexts extends ClusterConfiguration {
  /** The ConfigMap with `config` and `values`: `configmap/istio-system/istio-sidecar-injector`. */
  readonly injectorRef: string;
  /** The ConfigMap with `mesh`. */
  readonly meshRef: string;
}

/** Reads this program's ConfigMap or, if it does not exist, the two ConfigMaps of Istio. */
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

/** Looks for the ConfigMap of this program's webhook, if the control plane is a guess. */
async function guessed(
  { isGuess, revision, names }: ControlPlane,
  read: ConfigMapReader,
): Promise<Observed<PlaneTexts> | undefined> {
  const found = isGuess === true ? await read(names.namespace, ownConfigMap(revision)) : undefined;
  return found === undefined || !isKnown(found) || found.value === undefined ? undefined : inOwn(found.value);
}

/** Reports missing ConfigMaps. Names the ConfigMap of this program's webhook first. */
function missing({ names: { namespace }, own, revision }: ControlPlane, name: string): Observed<never> {
  const where = `in the namespace "${namespace}"`;
  const broken = own === undefined
    ? `There is no ConfigMap "${name}" ${where}; the injector of the revision "${revision}" is not installed, or ` +
      "in another place (see --istioNamespace and --revision)"
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

/** Returns the value of a function, or the message of its MeshError. */
function attempt<T>(object: string, make: () => T): Observed<T> {
  try {
    return { value: make() };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { broken: errorLine(error), object };
  }
}

/** A control plane with its configuration and injector, if they are known. */
export interface ObservedPlane {
  readonly plane: ControlPlane;
  readonly texts: Observed<PlaneTexts>;
  readonly injector: Observed<Injector>;
}

/** The access to the cluster that the inventory of control planes needs. */
export interface PlaneSource {
  readonly api: Pick<KubeApi, "get" | "list">;
  readonly clock: Pick<World["clock"], "now">;
  /** Selects the control plane. `namespace` is the namespace of workloads; `undefined` means all namespaces. */
  readonly scope: ClusterChoice & { readonly namespace?: string | undefined };
}

/** Gets the ConfigMaps of control planes by name, which needs no right to list. */
export function injectorInventory(
  source: PlaneSource,
  injectors: () => Promise<Observed<readonly InjectorWebhook[]>>,
) {
  const configMapAt = oncePerKey((place: Place) => objectOf(source, ["api/v1", "configmaps"], isConfigMap, place));
  const configMap: ConfigMapReader = (namespace, name) => configMapAt({ namespace, name });
  const load = async (plane: ControlPlane): Promise<ObservedPlane> => {
    const texts = await planeTexts(plane, configMap);
    const injector = isKnown(texts) ? injectorOf(texts.value, plane.revision, source.clock) : texts;
    return { plane, texts, injector };
  };
  const listed = oncePerKey((name: string) => namespacesOf(source, name));
  return {
    configMap,
    /** Lists all namespaces in one request or, if this is forbidden, reads one namespace at a time. */
    hasConfigMap: async (namespace: string, name: string): Promise<Observed<boolean>> => {
      const all = source.scope.namespace === undefined ? await listed(name) : undefined;
      if (all !== undefined && isKnown(all)) return { value: all.value.has(namespace) };
      return mapKnown(await configMap(namespace, name), (map) => map !== undefined);
    },
    /** The control planes by `planeKey`. If the webhooks are unknown, only the control plane of the scope. */
    planes: once(async (): Promise<Known<ReadonlyMap<string, ObservedPlane>>> => {
      const webhooks = await injectors();
      const found = controlPlanes(isKnown(webhooks) ? webhooks.value : [], source.scope);
      const loaded = await Promise.all(found.map(load));
      return { value: new Map(loaded.map((each) => [planeKey(each.plane), each])) };
    }),
  };
}

/** Lists the namespaces that have a ConfigMap with this name. RBAC can limit the request to the name. */
async function namespacesOf(source: PlaneSource, name: string): Promise<Observed<ReadonlySet<string>>> {
  const maps = await listOf(source, "api/v1", "configmaps", {
    isKind: isConfigMap,
    query: { fieldSelector: `metadata.name=${name}` },
    keep: nameKeeper(),
  });
  return mapKnown(maps, (all) => {
    const own = all.filter(({ metadata }) => metadata.name === name);
    return new Set(own.map(({ metadata: { namespace = "" } }) => namespace));
  });
}

export type InjectorInventory = ReturnType<typeof injectorInventory>;

/** Returns a control plane's injector options. The environment of the control plane is unknown and counts as empty. */
export function asControlPlane(clock: PlaneSource["clock"]) {
  return { byHand: false, env: () => undefined, now: () => clock.now() };
}

function injectorOf(texts: PlaneTexts, revision: string, clock: PlaneSource["clock"]): Observed<Injector> {
  const make = () => newInjector({ ...configurationOf(texts), revision, ...asControlPlane(clock) });
  return attempt(texts.injectorRef, make);
}
