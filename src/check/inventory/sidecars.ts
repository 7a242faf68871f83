import { errorLine, MeshError } from "../../base/errors.ts";
import type { Namespace } from "../../kube/client/mod.ts";
import {
  configurationOf,
  containersOf,
  decide,
  IGNORED_NAMESPACES,
  type Injector,
  injectPod,
  isOpenShift,
  newInjector,
  type Pod,
  podOwner,
  proxyIds,
  specOf,
  withKey,
} from "../../inject/mod.ts";
import {
  asControlPlane,
  controlPlaneOf,
  type InjectorInventory,
  type ObservedPlane,
  planeKey,
} from "./control_planes.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import { type InjectorWebhook, namespaceLabels, sendsPod } from "./injector_webhooks.ts";
import type { ResourceInventory } from "./resources.ts";
import { isChosen, type Scope, type Source } from "./source.ts";

/** A namespace whose pods are injected, or would be injected after Istio is installed. */
export interface SidecarNamespace {
  readonly name: string;
  readonly namespace: Namespace;
  /** A pod with only the parts that injection adds. */
  readonly sidecar: Pod;
  /** Injects the sidecar. `undefined` if the cluster has no webhook yet: the sidecar is then the built-in one. */
  readonly plane: ObservedPlane | undefined;
}

type SidecarParts = Pick<ResourceInventory, "namespaces" | "injectors"> & Pick<InjectorInventory, "planes">;

/** Returns a getter of the sidecars, for each namespace in the scope where webhooks inject all pods. */
export function sidecarInventory(source: Source, parts: SidecarParts) {
  return {
    sidecars: once(async (): Promise<Observed<readonly SidecarNamespace[]>> => {
      const [namespaces, webhooks] = await Promise.all([parts.namespaces(), parts.injectors()]);
      if (!isKnown(namespaces)) return namespaces;
      if (!isKnown(webhooks)) return webhooks;
      const wanted = namespaces.value.filter((each) => isWanted(each, source));
      if (webhooks.value.length === 0) return planned(wanted, source);
      return injected(wanted, webhooks.value, (await parts.planes()).value, source);
    }),
  };
}

/** Whether a namespace belongs to Kubernetes or to the control plane. */
export function isWithoutSidecars(name: string, { istioNamespace }: Pick<Scope, "istioNamespace">): boolean {
  return IGNORED_NAMESPACES.has(name) || name === istioNamespace;
}

function isWanted({ metadata: { name, labels } }: Namespace, { scope }: Source): boolean {
  if (!isChosen(labels ?? {}, scope.selector)) return false;
  return scope.namespace === undefined ? !isWithoutSidecars(name, scope) : name === scope.namespace;
}

function planned(namespaces: readonly Namespace[], { clock }: Source): Observed<readonly SidecarNamespace[]> {
  const sidecar = sidecarOf(newInjector({ ...configurationOf({}), ...asControlPlane(clock) }));
  if (sidecar === undefined) return { value: [] };
  return {
    value: namespaces.map((namespace) => ({ name: namespace.metadata.name, namespace, sidecar, plane: undefined })),
  };
}

/** Renders the sidecars of namespaces. Renders only once for each control plane and, on OpenShift, for each user. */
function injected(
  namespaces: readonly Namespace[],
  webhooks: readonly InjectorWebhook[],
  planes: ReadonlyMap<string, ObservedPlane>,
  { scope }: Source,
): Observed<readonly SidecarNamespace[]> {
  const made = new Map<string, Observed<Pod | undefined>>();
  const found: SidecarNamespace[] = [];
  for (const namespace of namespaces) {
    const { name, labels, annotations = {} } = namespace.metadata;
    const webhook = webhooks.find((each) => sendsPod(each, namespaceLabels(name, labels), {}));
    const ofPlane = webhook === undefined ? "" : planeKey(controlPlaneOf(webhook, scope));
    const plane = planes.get(ofPlane);
    if (plane === undefined) continue;
    const { injector } = plane;
    const users = isKnown(injector) && isOpenShift(injector.value) ? proxyIds(annotations, injector.value) : {};
    const key = JSON.stringify([ofPlane, users]);
    const sidecar = made.get(key) ?? sidecarOfPlane(injector, users);
    made.set(key, sidecar);
    if (!isKnown(sidecar)) return sidecar;
    if (sidecar.value !== undefined) found.push({ name, namespace, sidecar: sidecar.value, plane });
  }
  return { value: found };
}

function sidecarOfPlane(injector: Observed<Injector>, users: Partial<Injector>): Observed<Pod | undefined> {
  if (!isKnown(injector)) return injector;
  try {
    return { value: sidecarOf({ ...injector.value, ...users }) };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { failed: errorLine(error) };
  }
}

const APP = "app";
/** An application pod to render the sidecar for. */
export const PROBE: Pod = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: APP, namespace: "default", labels: {}, annotations: {} },
  spec: { containers: [{ name: APP, image: "app" }] },
};

/** Renders the sidecar; `undefined` if the configuration injects only labeled pods. */
function sidecarOf(injector: Injector): Pod | undefined {
  if (!decide(PROBE, { ...injector.config, byHand: false }).inject) return undefined;
  const { pod } = injectPod(PROBE, podOwner(PROBE, "default"), injector);
  const containers = containersOf(pod, "containers").filter(({ name }) => name !== APP);
  return withKey(pod, "spec", withKey(specOf(pod), "containers", [...containers]));
}
