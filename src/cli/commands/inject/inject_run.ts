import { EXIT } from "../../../base/errors.ts";
import type { PermissionName, World } from "../../../platform/world.ts";
import type { RevisionConfiguration } from "../../../inject/mod.ts";
import { readConfiguration } from "../../configuration.ts";
import {
  changeManifests,
  manifestInputs,
  openedUnlessSmall,
  permissionsFor,
  type Prepared,
  preparedManifests,
  templatePathsOf,
} from "../../manifests/manifests.ts";
import { type OutputTarget, outputTarget } from "../../manifests/output.ts";
import type { InjectInput } from "./inject_flags.ts";

type Flags = InjectInput["flags"];
type Room = typeof import("../../../inject/mod.ts");

/** Runs `inject`; returns the exit code: 1 if any resource failed. */
export async function runInject(world: World, { flags }: InjectInput): Promise<number> {
  const target = outputTarget(flags.output);
  const room = await import("../../../inject/mod.ts");
  // A cluster's configuration is read with fewer permissions than kubectl needs.
  const prepared = flags.showConfig ? NOTHING_PREPARED : await preparedManifests(world, flags, target);
  const templatePaths = templatePathsOf(flags, room);
  const cluster = await fromCluster(world, flags, { target, room });
  const scratch = flags.showConfig ? undefined : openedUnlessSmall(world, flags, target, prepared);
  world.permissions.keepOnly(permissionsFor(flags, target));
  const files = await readConfiguration(world, flags);
  const given = {
    config: files.config ?? cluster?.config,
    values: files.values ?? cluster?.values,
    mesh: files.mesh ?? cluster?.mesh,
    hub: flags.hub,
    tag: flags.tag,
    revision: flags.revision,
    cni: flags.cni || undefined,
  };
  const configuration = room.configurationOf(given);
  if (flags.showConfig) {
    world.stdout.write(room.showConfiguration(configuration));
    return EXIT.ok;
  }
  const inputs = await manifestInputs(world, flags, prepared);
  const injector = await room.loadInjector({
    revision: cluster?.revision ?? flags.revision,
    ...configuration,
    nativeSidecars: flags.nativeSidecars || undefined,
    byHand: true,
    parseWhenAsked: true,
    env: (name) => world.env.get(name),
    templateEnv: flags.templateEnv,
    now: () => world.clock.now(),
  });
  const { revision } = configuration;
  const notes = [room.describeConfiguration({ files, cluster, revision }), ...injector.notes];
  const warnings = room.unknownKeys(files, injector, configuration);
  const change = room.injection(injector);
  return await changeManifests(world, flags, {
    resourceDone: prepared.resourceDone,
    ...{ warnings, inputs, change, notes, target, scratch, templatePaths, room },
    done: "injected",
  });
}

/** What shows the configuration reads no manifests. */
const NOTHING_PREPARED: Prepared = { inputs: [], resourceDone: () => {} };

interface Cluster extends RevisionConfiguration {
  readonly server: string;
}

/** The configuration in the cluster; `undefined` if the user did not ask for it. */
async function fromCluster(
  world: World,
  flags: Flags,
  { target, room }: { readonly target: OutputTarget; readonly room: Room },
): Promise<Cluster | undefined> {
  if (!flags.fromCluster) return undefined;
  const { connect } = await import("../../../kube/client/mod.ts");
  const api = await connect(world, flags);
  world.permissions.keepOnly([
    ...new Set<PermissionName>([...api.permissions, "write", ...permissionsFor(flags, target)]),
  ]);
  try {
    const configuration = await room.revisionConfiguration(api, flags);
    return { ...configuration, server: api.server };
  } finally {
    api.close();
  }
}
