import { EXIT, UsageError } from "../../core/errors.ts";
import type { PermissionName, World } from "../../core/world/world.ts";
import type { ClusterConfiguration, Source } from "../../inject/mod.ts";
import { expandInputs } from "../inputs.ts";
import type { InjectFlags } from "./inject.ts";
import { openOutput } from "../output.ts";
import { reporter } from "../reporter.ts";

/** A values file of Istio's chart is some KB, its injector configuration some 100 KB. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

/** Runs `inject`; returns the exit code: 1 if any resource failed. */
export async function runInject(world: World, flags: InjectFlags): Promise<number> {
  const room = await import("../../inject/mod.ts");
  const cluster = await fromCluster(world, flags, room);
  world.permissions.keepOnly(permissionsFor(flags));
  const files = await givenFiles(world, flags);
  const configuration = room.configurationOf({
    config: files.config ?? cluster?.config,
    values: files.values ?? cluster?.values,
    mesh: files.mesh ?? cluster?.mesh,
    ...images(flags),
  });
  if (flags.showConfig === true) {
    world.stdout.write(room.showConfiguration(configuration));
    return EXIT.ok;
  }
  const inputs = await expandInputs(world, flags.filename ?? [], flags.recursive === true);
  const injector = await room.loadInjector({
    ...configuration,
    revision: flags.revision,
    nativeSidecars: flags.nativeSidecars,
    byHand: true,
    env: (name) => world.env.get(name),
    now: () => world.clock.now(),
  });
  const report = reporter(world, { format: flags.report, severalFiles: inputs.length > 1 }, room);
  const output = await openOutput(world, flags.output);
  report.notes(injector.notes);
  try {
    const options = { namespace: flags.namespace, output: output.format };
    const sink = { write: output.write, report: report.entry };
    const work = room.injectStream(inputs, injector, { ...options, sink });
    const summary = await Promise.race([work, output.interrupted]);
    const failed = summary.failed > 0;
    if (failed) output.abort();
    else output.commit();
    report.end(summary, output);
    return failed ? EXIT.failed : EXIT.ok;
  } catch (error) {
    output.abort();
    throw error;
  }
}

type Room = typeof import("../../inject/mod.ts");

/** The configuration in the cluster; `undefined` if the user did not ask for it. */
async function fromCluster(world: World, flags: InjectFlags, room: Room): Promise<ClusterConfiguration | undefined> {
  if (flags.fromCluster !== true) {
    const named = flags.injectConfigMapName ?? flags.meshConfigMapName;
    if (named === undefined) return undefined;
    throw new UsageError(`The ConfigMap "${named}" is in a cluster`, { hint: "add --from-cluster to read it there" });
  }
  const { connect } = await import("../../core/kube/client/mod.ts");
  const api = await connect(world, flags);
  world.permissions.keepOnly([...new Set([...api.permissions, ...permissionsFor(flags)])]);
  try {
    return await room.clusterConfiguration(api, room.clusterNames(flags));
  } finally {
    api.close();
  }
}

/** What a manifest or a template could misuse is given up before the first of them is read. */
function permissionsFor(flags: InjectFlags): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  if (!["yaml", "json", "-"].includes(flags.output)) names.push("write");
  if ((flags.filename ?? []).some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}

function images({ hub, tag, cni }: InjectFlags) {
  return { hub, tag, cni };
}

async function givenFiles(world: World, flags: InjectFlags) {
  const [config, values, mesh] = await Promise.all([
    source(world, flags.injectConfig ?? flags.injectConfigFile),
    source(world, flags.values ?? flags.valuesFile),
    source(world, flags.meshConfig ?? flags.meshConfigFile),
  ]);
  return { config, values, mesh };
}

async function source(world: World, path: string | undefined): Promise<Source | undefined> {
  return path === undefined ? undefined : { text: await world.files.readText(path, MAX_CONFIG_BYTES), file: path };
}
