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
  loadInjector,
} from "../../inject/mod.ts";
import { type Fact, isKnown } from "../facts/fact.ts";
import type { ControlPlane } from "./control_planes.ts";

/** Reads a ConfigMap; `undefined` if it is not there. */
export type ConfigMapReader = (namespace: string, name: string) => Promise<Fact<KubeObject | undefined>>;

/** The texts of a control plane's configuration: that of our own webhook, else Istio's two ConfigMaps. */
export async function planeTexts(plane: ControlPlane, read: ConfigMapReader): Promise<Fact<ClusterConfiguration>> {
  const own = plane.own === undefined ? undefined : await read(plane.names.namespace, plane.own);
  if (own !== undefined && isKnown(own) && own.value !== undefined) return inOwn(own.value);
  const { namespace, injector, mesh } = plane.names;
  const [first, second] = await Promise.all([read(namespace, injector), read(namespace, mesh)]);
  if (!isKnown(first)) return first;
  if (!isKnown(second)) return second;
  if (first.value === undefined) return missing(namespace, injector);
  if (second.value === undefined) return missing(namespace, mesh);
  const maps = { injector: first.value, mesh: second.value };
  return attempt(() => configurationIn(maps.injector, maps.mesh));
}

function missing(namespace: string, name: string): Fact<never> {
  return { failed: `There is no ConfigMap "${name}" in the namespace "${namespace}"` };
}

/** The ConfigMap of our own webhook has all three texts; one without a mesh configuration has Istio's defaults. */
function inOwn(map: KubeObject): Fact<ClusterConfiguration> {
  const data = isMap(map["data"]) ? map["data"] : {};
  return attempt(() => configurationIn(map, "mesh" in data ? map : { ...map, data: { ...data, mesh: "" } }));
}

/** The value, or the message of a MeshError. */
function attempt<T>(make: () => T): Fact<T> {
  try {
    return { value: make() };
  } catch (error) {
    if (!(error instanceof MeshError)) throw error;
    return { failed: errorLine(error) };
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
  return isKnown(texts) ? injectorOf(texts.value, plane.revision, clock) : texts;
}

/** The injector of these texts. */
export function injectorOf(texts: ClusterConfiguration, revision: string, clock: InjectorWorld): Fact<Injector> {
  return attempt(() =>
    loadInjector({
      ...configurationOf(texts),
      revision,
      byHand: false,
      env: () => undefined,
      now: () => clock.now(),
    })
  );
}
