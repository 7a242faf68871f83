/** The sides of a comparison: configurations in files, snapshots, revisions of a cluster. */
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
import { inventoryOf, type Source } from "../inventory/mod.ts";
import { isKnown } from "../inventory/observed.ts";
import { planeOf } from "../upgrade/next_injector.ts";
import type { Side } from "./difference.ts";

/** Options of every side. */
export interface SideOptions {
  readonly clock: Pick<Clock, "now">;
  /** Values and mesh configuration of files that have none. */
  readonly given: Pick<GivenConfiguration, "values" | "mesh">;
  readonly nativeSidecars: NativeOption;
}

/**
 * The side of a file, and of one revision of it if it is a snapshot.
 * Errors: a MeshError for a configuration that cannot be used, and for a revision that the snapshot does not have.
 */
export async function fileSide(
  name: string,
  { config, revision }: { readonly config: ConfigurationText; readonly revision: string | undefined },
  options: SideOptions,
): Promise<Side> {
  const snapshot = snapshotIn(config);
  if (snapshot === undefined && revision !== undefined) {
    throw new MeshError(`"${config.file}" is not a snapshot: it has no revision "${revision}"`);
  }
  const names = snapshot === undefined || revision !== undefined ? [revision] : revisionsIn(snapshot);
  if (names.length === 0) throw new MeshError(`The snapshot "${name}" has no configuration of a revision`);
  const injectors = new Map<string, Injector>();
  for (const each of names) {
    const own = configurationOf({ config, revision: each });
    const { values = options.given.values, mesh = options.given.mesh } = own;
    injectors.set(each ?? "default", await injectorOf({ ...own, values, mesh }, options));
  }
  return { name, injectors, isWhole: snapshot !== undefined && revision === undefined };
}

/**
 * The side of a revision or a tag of a cluster. Without the right to list webhooks, its ConfigMaps have Istio's names.
 * Errors: errors of the API, and a MeshError for a revision that is not there.
 */
export async function revisionSide(
  name: string,
  revision: string,
  source: Source,
  options: SideOptions,
): Promise<Side> {
  const given = await textsOf(source, revision);
  const injectors = new Map([[revision, await injectorOf(given, options)]]);
  return { name, injectors, isWhole: false };
}

async function textsOf(source: Source, revision: string): Promise<GivenConfiguration> {
  const inventory = inventoryOf(source);
  const { istioNamespace } = source.scope;
  if (!isKnown(await inventory.mutatingWebhooks())) {
    return await revisionConfiguration(source.api, { revision, istioNamespace });
  }
  const { texts, plane } = await planeOf(inventory, revision);
  if (!isKnown(texts)) throw new Error("A control plane without texts is refused");
  return { ...texts.value, revision: plane.revision };
}

/** `revision` is a revision of a snapshot or of a control plane. */
async function injectorOf(given: GivenConfiguration, { clock, nativeSidecars }: SideOptions): Promise<Injector> {
  return await loadInjector({
    revision: given.revision,
    ...configurationOf(given),
    nativeSidecars,
    byHand: false,
    env: () => undefined,
    now: () => clock.now(),
  });
}
