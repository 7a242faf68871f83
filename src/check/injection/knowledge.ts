/** What a cluster knows that decides about a namespace's pods. What may not be read is a gap, and no error. */
import type { KubeApi, KubeObject } from "../../core/kube/client/mod.ts";
import type { ClusterChoice, Injector } from "../../inject/mod.ts";
import { podKeeper } from "../inventory/kept_fields.ts";
import { PAGE_OF_PODS } from "../inventory/pods.ts";
import { asFact, type Fact, isKnown, once, reason } from "../inventory/observed.ts";
import { type InjectorWebhook, injectorWebhooks } from "../inventory/injector_webhooks.ts";
import { type ControlPlane, controlPlaneOf, controlPlanes, planeKey } from "../inventory/control_planes.ts";
import type { Knowledge } from "./explanation.ts";
import { type ConfigMapReader, type InjectorWorld, planeInjector } from "../inventory/plane_configuration.ts";
import { namespaceLabels } from "./match.ts";

/** How a cluster is asked. */
export interface Asking {
  readonly api: KubeApi;
  readonly clock: InjectorWorld;
  readonly choice: ClusterChoice;
  /** Takes the place of what the control planes have. */
  readonly given: Injector | undefined;
  /** Live pods are asked for too. */
  readonly wantsPods: boolean;
}

/** Without a cluster only a configuration is known. */
export function offlineKnowledge(given: Injector | undefined): Knowledge {
  return { webhooks: undefined, namespaceLabels: {}, injectorFor: () => givenFact(given), pods: [], gaps: [] };
}

function givenFact(given: Injector | undefined): Fact<Injector> {
  return given === undefined ? { failed: "no configuration is given" } : { value: given };
}

const CONFIGURATIONS = "mutatingwebhookconfigurations";

/** What the cluster knows. Without the webhooks or the namespace's labels one webhook is taken to be called. */
export async function clusterKnowledge(asking: Asking, name: string): Promise<Knowledge> {
  const { api, wantsPods } = asking;
  const folder = `/api/v1/namespaces/${encodeURIComponent(name)}`;
  const [namespace, configurations, live] = await Promise.all([
    asFact("get on namespaces", () => api.get(folder)),
    asFact(`list on ${CONFIGURATIONS}`, () => items(api, `/apis/admissionregistration.k8s.io/v1/${CONFIGURATIONS}`)),
    wantsPods ? asFact(`list on pods in the namespace "${name}"`, () => pods(api, folder)) : NOTHING,
  ]);
  const webhooks = isKnown(configurations) ? injectorWebhooks(configurations.value) : undefined;
  const labels = isKnown(namespace) ? namespace.value?.metadata["labels"] : undefined;
  return {
    webhooks: isKnown(namespace) ? webhooks : undefined,
    namespaceLabels: namespaceLabels(name, labels),
    injectorFor: await injectors(asking, webhooks ?? []),
    pods: isKnown(live) ? live.value : [],
    gaps: [
      ...gap("which webhooks there are", configurations),
      ...gap("the labels of the namespace", namespace),
      ...gap("what the live pods have", live),
      ...isKnown(namespace) && namespace.value === undefined
        ? [`There is no namespace "${name}": it is taken to have no labels`]
        : [],
    ],
  };
}

const NOTHING: Fact<readonly KubeObject[]> = { value: [] };

function gap(what: string, fact: Fact<unknown>): readonly string[] {
  return isKnown(fact) ? [] : [`cannot tell ${what}: ${reason(fact)}`];
}

async function items(api: KubeApi, path: string): Promise<readonly KubeObject[]> {
  return (await api.list(path)).items;
}

async function pods(api: KubeApi, folder: string): Promise<readonly KubeObject[]> {
  return (await api.list(`${folder}/pods`, PAGE_OF_PODS, podKeeper())).items;
}

/** The injectors of the control planes behind the webhooks, each read once; without a webhook that of the choice. */
async function injectors({ api, clock, choice, given }: Asking, webhooks: readonly InjectorWebhook[]) {
  if (given !== undefined) return () => givenFact(given);
  const read = configMaps(api);
  const load = async (plane: ControlPlane) => [planeKey(plane), await planeInjector(plane, read, clock)] as const;
  const planes = webhooks.length === 0
    ? controlPlanes([], choice)
    : webhooks.map((each) => controlPlaneOf(each, choice));
  const [first] = planes;
  const distinct = new Map(planes.map((plane) => [planeKey(plane), plane]));
  const loaded = new Map(await Promise.all([...distinct.values()].map(load)));
  return (webhook: InjectorWebhook | undefined): Fact<Injector> => {
    const plane = webhook === undefined ? first : controlPlaneOf(webhook, choice);
    const injector = plane === undefined ? undefined : loaded.get(planeKey(plane));
    return injector ?? { failed: "its control plane is not known" };
  };
}

/** ConfigMaps by name, each asked for once. */
function configMaps(api: KubeApi): ConfigMapReader {
  const asked = new Map<string, () => Promise<Fact<KubeObject | undefined>>>();
  return (namespace, name) => {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}/configmaps/${encodeURIComponent(name)}`;
    const right = `get on configmaps in the namespace "${namespace}"`;
    const get = asked.get(path) ?? once(() => asFact(right, () => api.get(path)));
    asked.set(path, get);
    return get();
  };
}
