import { EXIT } from "../../../base/errors.ts";
import type { KubeApi } from "../../../kube/client/mod.ts";
import { startProgress } from "../../../platform/progress.ts";
import type { PermissionName, World } from "../../../platform/world.ts";
import type { RevisionConfiguration } from "../../../inject/mod.ts";
import { nativeOption, readConfiguration } from "../../configuration.ts";
import { findingsFor } from "../../manifests/findings.ts";
import { openManifestOutput } from "../../manifests/manifest_output.ts";
import { changeManifests, permissionsFor, readManifestFlags } from "../../manifests/manifests.ts";
import { outputIn, type OutputTarget } from "../../manifests/output.ts";
import type { InjectInput } from "./inject_flags.ts";

type Flags = InjectInput["flags"];
type InjectModule = typeof import("../../../inject/mod.ts");

/** Runs `inject`. Returns exit code 1 if a resource failed. */
export async function runInject(world: World, { flags }: InjectInput): Promise<number> {
  const inject = await import("../../../inject/mod.ts");
  if (flags.showConfig) return await showConfiguration(world, flags, inject);
  const read = await readManifestFlags(world, flags, inject);
  const findings = await findingsFor(world, flags, inject);
  const cluster = await fromCluster(world, flags, read);
  using output = await openManifestOutput(world, flags, read.target, read.inputs);
  world.permissions.keepOnly(permissionsFor(flags, read.target));
  const files = await readConfiguration(world, flags);
  const configuration = inject.configurationOf(given(flags, files, cluster));
  /** Notes that templates add during rendering. */
  const templateNotes: string[] = [];
  const injector = await inject.loadInjector({
    revision: cluster?.revision ?? flags.revision,
    ...configuration,
    istioVersion: flags.istioVersion,
    nativeSidecars: cluster?.native ?? nativeOption(flags.nativeSidecars),
    byHand: true,
    parseWhenAsked: true,
    env: (name) => world.env.get(name),
    templateEnv: { names: flags.templateEnv, note: (text) => void templateNotes.push(text) },
    now: () => world.clock.now(),
  });
  const { revision } = configuration;
  return await changeManifests(world, flags, {
    ...read,
    change: inject.injection(injector),
    done: "injected",
    fit: flags.fit,
    notes: [inject.describeConfiguration({ files, cluster, revision }), ...injector.notes],
    newNotes: () => templateNotes.splice(0),
    warnings: inject.unknownKeys(files, injector, configuration),
    ...{ output, findings },
  });
}

interface Cluster extends RevisionConfiguration {
  readonly server: string;
  /** Whether all nodes support native sidecars; only with `--native-sidecars auto`. */
  readonly native: boolean | undefined;
}

/** Returns the configuration from files and the cluster. Files override the cluster. */
function given(flags: Flags, files: Awaited<ReturnType<typeof readConfiguration>>, cluster: Cluster | undefined) {
  return {
    config: files.config ?? cluster?.config,
    values: files.values ?? cluster?.values,
    mesh: files.mesh ?? cluster?.mesh,
    hub: flags.hub,
    tag: flags.tag,
    revision: flags.revision,
    cni: flags.cni || undefined,
    fit: flags.fit,
  };
}

interface Reading {
  readonly target: OutputTarget;
  readonly inject: InjectModule;
}

async function showConfiguration(world: World, flags: Flags, inject: InjectModule): Promise<number> {
  const target = await outputIn(world, flags.output);
  const cluster = await fromCluster(world, flags, { target, inject });
  world.permissions.keepOnly(permissionsFor(flags, target));
  const files = await readConfiguration(world, flags);
  world.stdout.write(inject.showConfiguration(inject.configurationOf(given(flags, files, cluster))));
  return EXIT.ok;
}

/** Whether all nodes of the cluster support native sidecars. Throws an `ApiError`, for example if the user may not list nodes. */
async function nativeNow(api: KubeApi, inject: InjectModule): Promise<boolean> {
  const { items } = await api.list("/api/v1/nodes");
  return inject.nativeByNodes("always", inject.nativeNodes(items.map((node) => ({ ...node }))), "");
}

/** Reads the configuration from the cluster, or returns `undefined` if `--from-cluster` is not given. */
async function fromCluster(world: World, flags: Flags, { target, inject }: Reading): Promise<Cluster | undefined> {
  if (!flags.fromCluster) return undefined;
  const { connect } = await import("../../../kube/client/mod.ts");
  const api = await connect(world, flags);
  // "write" stays, because the output is opened later.
  const needed = new Set<PermissionName>([...api.permissions, "write", ...permissionsFor(flags, target)]);
  world.permissions.keepOnly([...needed]);
  const isAsked = flags.nativeSidecars === "auto" && !flags.showConfig;
  const parts = isAsked ? 2 : 1;
  const progress = startProgress(world, { one: "answer", verb: "read" }, !["json", "sarif"].includes(flags.report));
  try {
    progress.at(0, parts);
    progress.now(`the configuration of ${api.server}`);
    const configuration = await inject.revisionConfiguration(api, flags);
    if (!isAsked) return { ...configuration, server: api.server, native: undefined };
    progress.at(1, parts);
    progress.now(`the nodes of ${api.server}`);
    return { ...configuration, server: api.server, native: await nativeNow(api, inject) };
  } finally {
    progress.end();
    api.close();
  }
}
