/** The injector that a control plane has, from its ConfigMaps. */
import { errorLine, MeshError } from "../../core/errors.ts";
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { isMap } from "../../core/value.ts";
import type { World } from "../../core/world/mod.ts";
import {
  type ClusterConfiguration,
  configurationIn,
  configurationOf,
  type Injector,
  newInjector,
} from "../../inject/mod.ts";
import { type Fact, isKnown } from "./observed.ts";
import type { ControlPlane } from "./control_planes.ts";

/** Reads a ConfigMap; `undefined` if it is not there. */
export type ConfigMapReader = (namespace: string, name: string) => Promise<Fact<KubeObject | undefined>>;

/** The configuration of a control plane, and the ConfigMaps that it is in. */
export interface PlaneTexts extends ClusterConfiguration {
  /** `configmap/istio-system/istio-sidecar-injector`: what holds `config` and `values`. */
  readonly injectorRef: string;
  /** What holds `mesh`. */
  readonly meshRef: string;
}

/** The texts of a control plane's configuration: that of our own webhook, else Istio's two ConfigMaps. */
export async function planeTexts(plane: ControlPlane, read: ConfigMapReader): Promise<Fact<PlaneTexts>> {
  const { namespace, injector, mesh } = plane.names;
  const own = plane.own === undefined ? undefined : await read(namespace, plane.own);
  if (own !== undefined && !isKnown(own)) return own;
  if (own?.value !== undefined) return inOwn(own.value);
  const [first, second] = await Promise.all([read(namespace, injector), read(namespace, mesh)]);
  if (!isKnown(first)) return first;
  if (!isKnown(second)) return second;
  if (first.value === undefined) return missing(plane, injector);
  if (second.value === undefined) return missing(plane, mesh);
  return together(first.value, second.value);
}

/** The ConfigMap of our own webhook is looked for first, and named first. */
function missing({ names: { namespace }, own, revision }: ControlPlane, name: string): Fact<never> {
  const where = `in the namespace "${namespace}"`;
  const broken = own === undefined
    ? `There is no ConfigMap "${name}" ${where}; the injector of the revision "${revision}" is not installed, or ` +
      "elsewhere (--istioNamespace, --revision)"
    : `There is neither the ConfigMap "${own}" nor "${name}" ${where}; apply what "kubectl mesh webhook manifests" prints`;
  return { broken, object: `configmap/${namespace}/${own ?? name}` };
}

/** The ConfigMap of our own webhook has all three texts; one without a mesh configuration has Istio's defaults. */
function inOwn(map: KubeObject): Promise<Fact<PlaneTexts>> {
  const data = isMap(map["data"]) ? map["data"] : {};
  return together(map, "mesh" in data ? map : { ...map, data: { ...data, mesh: "" } });
}

function together(injector: KubeObject, mesh: KubeObject): Promise<Fact<PlaneTexts>> {
  const [injectorRef, meshRef] = [refOf(injector), refOf(mesh)];
  return attempt(injectorRef, () => ({ ...configurationIn(injector, mesh), injectorRef, meshRef }));
}

function refOf({ metadata: { namespace = "", name } }: KubeObject): string {
  return `configmap/${namespace}/${name}`;
}

/** The value, or the message of a MeshError. */
async function attempt<T>(object: string, make: () => T | Promise<T>): Promise<Fact<T>> {
  try {
    return { value: await make() };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { broken: errorLine(error), object };
  }
}

/** What an injector depends on besides its texts. */
export type InjectorWorld = Pick<World["clock"], "now">;

/**
 * The injector of a control plane as its webhook has it. The environment of the control plane's process is not known: it
 * counts as empty.
 */
export async function planeInjector(
  plane: ControlPlane,
  read: ConfigMapReader,
  clock: InjectorWorld,
): Promise<Fact<Injector>> {
  const texts = await planeTexts(plane, read);
  return isKnown(texts) ? await injectorOf(texts.value, plane.revision, clock) : texts;
}

/** The injector of these texts. */
export async function injectorOf(texts: PlaneTexts, revision: string, clock: InjectorWorld): Promise<Fact<Injector>> {
  return await attempt(texts.injectorRef, () =>
    newInjector({
      ...configurationOf(texts),
      revision,
      byHand: false,
      env: () => undefined,
      now: () => clock.now(),
    }));
}
