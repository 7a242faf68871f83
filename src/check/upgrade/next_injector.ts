/** Builds the injectors before and after the upgrade. */
import { errorLine, MeshError } from "../../base/errors.ts";
import {
  configurationOf,
  type GivenConfiguration,
  type Injector,
  loadInjector,
  type NativeOption,
} from "../../inject/mod.ts";
import { asControlPlane, controlPlaneOf, type ObservedPlane, planeKey } from "../inventory/control_planes.ts";
import type { Inventory } from "../inventory/mod.ts";
import { isKnown, type Observed, oncePerKey, reason } from "../inventory/observed.ts";
import type { Running } from "./running.ts";

/** The target of an upgrade: configuration files, or a revision in the cluster. */
export type UpgradeTo = { readonly files: GivenConfiguration } | { readonly revision: string };

/** The properties of running pods that select their injector. */
type Injected = Pick<Running, "revision"> & { readonly isNative: NativeOption };

/** Returns the injector for a revision and native-sidecar option, or why it is unknown. */
export type InjectorOf = (of: Injected) => Promise<Observed<Injector>>;

/** The injectors before and after the upgrade. Each is loaded once. */
export interface Injectors {
  /** The injector after the upgrade. Throws a MeshError for files that are not a configuration. */
  readonly next: InjectorOf;
  /** The injector of the control plane that injected the pods, with its present configuration. */
  readonly present: InjectorOf;
}

/**
 * Returns the injectors for an upgrade. Unless `nativeSidecars` is set, native sidecars stay native and others do not
 * become native, because no API shows istiod's environment. Throws a MeshError for an unknown revision.
 */
export async function injectorsFor(
  inventory: Inventory,
  to: UpgradeTo,
  nativeSidecars: NativeOption | undefined,
): Promise<Injectors> {
  const { value: planes } = await inventory.planes();
  const presentPlane = (revision: string): Observed<ObservedPlane> => {
    const found = [...planes.values()].find(({ plane }) => plane.revision === revision);
    if (found !== undefined) return { value: found };
    return { broken: `no webhook serves the revision "${revision}", which injected the pods`, object: "" };
  };
  const load = (given: GivenConfiguration, { revision, isNative: nativeSidecars }: Injected) => {
    const configuration = configurationOf({ ...given, revision });
    return loadInjector({ revision, ...configuration, nativeSidecars, ...asControlPlane(inventory.clock) });
  };
  const ofPlane = async ({ texts, plane: { revision } }: ObservedPlane, of: Injected): Promise<Observed<Injector>> =>
    isKnown(texts) ? { value: await load(texts.value, { ...of, revision }) } : texts;
  const present: InjectorOf = async (of) => {
    const plane = presentPlane(of.revision);
    try {
      return isKnown(plane) ? await ofPlane(plane.value, of) : plane;
    } catch (error) {
      if (error instanceof MeshError) return { broken: errorLine(error), object: "" };
      throw error;
    }
  };
  const toFiles = (files: GivenConfiguration): InjectorOf => async (of) => {
    const own = configurationOf({ ...files, revision: of.revision });
    if (own.values !== undefined && own.mesh !== undefined) return { value: await load(own, of) };
    const plane = presentPlane(of.revision);
    const texts = isKnown(plane) ? plane.value.texts : plane;
    if (!isKnown(texts)) return texts;
    const { values = texts.value.values, mesh = texts.value.mesh } = own;
    return { value: await load({ config: own.config, values, mesh }, of) };
  };
  const toPlane = (target: ObservedPlane): InjectorOf => (of) => ofPlane(target, of);
  const next = "files" in to ? toFiles(to.files) : toPlane(await planeOf(inventory, to.revision));
  const choosing: InjectorOf = (of) => next({ ...of, isNative: nativeSidecars ?? of.isNative });
  const keyOf = ({ revision, isNative }: Injected) => `${revision} ${isNative}`;
  return { next: oncePerKey(choosing, keyOf), present: oncePerKey(present, keyOf) };
}

/** Returns the control plane of a revision or a tag. */
export async function planeOf(inventory: Inventory, revision: string): Promise<ObservedPlane> {
  const [injectors, { value: planes }] = await Promise.all([inventory.injectors(), inventory.planes()]);
  if (!isKnown(injectors)) {
    throw new MeshError(`Cannot tell which webhook serves the revision "${revision}": ${reason(injectors)}`);
  }
  const webhooks = injectors.value;
  const webhook = webhooks.find((each) => (each.tag ?? each.revision) === revision);
  const plane = webhook === undefined ? undefined : planes.get(planeKey(controlPlaneOf(webhook, inventory.scope)));
  if (plane === undefined) {
    const served = new Set(webhooks.map((each) => `"${each.tag ?? each.revision}"`));
    const known = served.size === 0
      ? "the cluster has no injection webhook"
      : `webhooks serve ${[...served].join(", ")}`;
    const hint = `${known}; if you mean the file "${revision}", write "./${revision}"`;
    throw new MeshError(`No webhook serves the revision "${revision}"`, { hint });
  }
  if (isKnown(plane.texts)) return plane;
  throw new MeshError(`The configuration of the revision "${revision}" is unknown: ${reason(plane.texts)}`);
}
