/** Builds the sides of a comparison from configuration files, snapshots, and revisions of a cluster. */
import { MeshError } from "../../base/errors.ts";
import type { Clock } from "../../platform/world.ts";
import {
  configurationOf,
  type GivenConfiguration,
  type Injector,
  loadInjector,
  type NativeOption,
  revisionConfiguration,
  revisionsIn,
  snapshotIn,
  type Source as ConfigurationText,
} from "../../inject/mod.ts";
import { asControlPlane } from "../inventory/control_planes.ts";
import { inventoryOf, type Source } from "../inventory/mod.ts";
import { isKnown } from "../inventory/observed.ts";
import { planeOf } from "../upgrade/next_injector.ts";
import type { Side } from "./difference.ts";

export interface SideOptions {
  readonly clock: Pick<Clock, "now">;
  /** Values and mesh configuration for files that contain only an injector configuration. */
  readonly given: Pick<GivenConfiguration, "values" | "mesh">;
  readonly nativeSidecars: NativeOption;
}

/**
 * Builds a side from a file. For a snapshot, `revision` selects one of its revisions.
 * Throws a MeshError for an unusable configuration, and for a revision that is not in the snapshot.
 */
export async function fileSide(
  name: string,
  { config, revision }: { readonly config: ConfigurationText; readonly revision: string | undefined },
  options: SideOptions,
): Promise<Side> {
  const snapshot = snapshotIn(config);
  if (snapshot === undefined && revision !== undefined) {
    throw new MeshError(`"${config.file}" is not a snapshot, so it has no revision "${revision}"`);
  }
  const names = snapshot === undefined || revision !== undefined ? [revision] : revisionsIn(snapshot);
  if (names.length === 0) throw new MeshError(`The snapshot "${name}" contains no configuration`);
  const injectors = new Map<string, Injector>();
  for (const each of names) {
    const own = configurationOf({ config, revision: each });
    const { values = options.given.values, mesh = options.given.mesh } = own;
    injectors.set(each ?? "default", await injectorOf({ ...own, values, mesh }, options));
  }
  return { name, injectors, isWhole: snapshot !== undefined && revision === undefined, cluster: snapshot };
}

/**
 * Builds a side from a revision or a tag of a cluster. Without the right to list webhooks, assumes that the ConfigMaps
 * have the names that Istio gives them. Throws errors of the API, and a MeshError for a revision that does not exist.
 */
export async function revisionSide(
  name: string,
  revision: string,
  source: Source,
  options: SideOptions,
): Promise<Side> {
  const given = await textsOf(source, revision);
  const injectors = new Map([[revision, await injectorOf(given, options)]]);
  return { name, injectors, isWhole: false, cluster: "live" };
}

async function textsOf(source: Source, revision: string): Promise<GivenConfiguration> {
  const inventory = inventoryOf(source);
  const { istioNamespace } = source.scope;
  if (!isKnown(await inventory.injectors())) {
    return await revisionConfiguration(source.api, { revision, istioNamespace });
  }
  const { texts, plane } = await planeOf(inventory, revision);
  if (!isKnown(texts)) throw new Error("planeOf returned a control plane without configuration");
  return { ...texts.value, revision: plane.revision };
}

/** Builds an injector from the configuration of one revision, in a snapshot or in a cluster. */
async function injectorOf(given: GivenConfiguration, { clock, nativeSidecars }: SideOptions): Promise<Injector> {
  const { revision } = given;
  return await loadInjector({ revision, ...configurationOf(given), nativeSidecars, ...asControlPlane(clock) });
}
