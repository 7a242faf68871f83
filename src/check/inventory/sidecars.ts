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
import { controlPlaneOf, planeKey } from "./control_planes.ts";
import { isKnown, type Observed, once } from "./observed.ts";
import { type InjectorWebhook, namespaceLabels, sendsPod } from "./injector_webhooks.ts";
import type { InjectorInventory, ObservedPlane } from "./control_planes.ts";
import type { ResourceInventory } from "./resources.ts";
import { isChosen, type Scope, type Source } from "./source.ts";

/** A namespace whose pods are injected, or would be injected after Istio is installed. */
export interface SidecarNamespace {
  readonly name: string;
  readonly namespace: Namespace;
  /** A pod with only the parts that injection adds. */
  readonly sidecar: Pod;
  /** The control plane that injects the sidecar; `undefined` if `planned` is true. */
  readonly plane: ObservedPlane | undefined;
  /** Whether the cluster has no injection webhook yet. The sidecar then comes from the built-in configuration. */
  readonly planned: boolean;
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
      return inWebhooks(wanted, webhooks.value, (await parts.planes()).value, source);
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
  const injector = newInjector({
    ...configurationOf({}),
    byHand: false,
    env: () => undefined,
    now: () => clock.now(),
  });
  return forEach(namespaces, () => ({ sidecar: { value: sidecarOf(injector) }, plane: undefined }));
}

/** Renders the sidecars of namespaces. Renders only once for each control plane and, on OpenShift, for each user. */
function inWebhooks(
  namespaces: readonly Namespace[],
  webhooks: readonly InjectorWebhook[],
  planes: ReadonlyMap<string, ObservedPlane>,
  { scope }: Source,
): Observed<readonly SidecarNamespace[]> {
  const made = new Map<string, Observed<Pod | undefined>>();
  return forEach(namespaces, ({ metadata }) => {
    const labels = namespaceLabels(metadata.name, metadata["labels"]);
    const webhook = webhooks.find((each) => sendsPod(each, labels, {}));
    if (webhook === undefined) return undefined;
    const ofPlane = planeKey(controlPlaneOf(webhook, scope));
    const plane = planes.get(ofPlane);
    if (plane === undefined) return undefined;
    const users = usersIn(metadata.annotations ?? {}, plane);
    const key = JSON.stringify([ofPlane, users]);
    const sidecar = made.get(key) ?? sidecarOfPlane(plane, users);
    made.set(key, sidecar);
    return { sidecar, plane };
  });
}

interface Made {
  readonly sidecar: Observed<Pod | undefined>;
  readonly plane: ObservedPlane | undefined;
}

function forEach(
  namespaces: readonly Namespace[],
  make: (namespace: Namespace) => Made | undefined,
): Observed<readonly SidecarNamespace[]> {
  const found: SidecarNamespace[] = [];
  for (const namespace of namespaces) {
    const made = make(namespace);
    if (made === undefined) continue;
    const { sidecar, plane } = made;
    if (!isKnown(sidecar)) return sidecar;
    const { name } = namespace.metadata;
    if (sidecar.value === undefined) continue;
    found.push({ name, namespace, sidecar: sidecar.value, plane, planned: plane === undefined });
  }
  return { value: found };
}

/** Returns the user and group of proxies in a namespace with these annotations. Empty outside OpenShift. */
function usersIn(annotations: Readonly<Record<string, string>>, { injector }: ObservedPlane) {
  return isKnown(injector) && isOpenShift(injector.value) ? proxyIds(annotations, injector.value) : {};
}

function sidecarOfPlane({ injector }: ObservedPlane, users: Partial<Injector>): Observed<Pod | undefined> {
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
