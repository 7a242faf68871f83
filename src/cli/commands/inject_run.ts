import { EXIT } from "../../core/errors.ts";
import type { PermissionName, World } from "../../core/world/world.ts";
import type { ClusterConfiguration } from "../../inject/mod.ts";
import { readConfiguration } from "../configuration.ts";
import { expandInputs } from "../inputs.ts";
import type { InjectInput } from "./inject.ts";
import { openOutput } from "../output.ts";
import { reporter } from "../reporter.ts";

type Flags = InjectInput["flags"];

/** Runs `inject`; returns the exit code: 1 if any resource failed. */
export async function runInject(world: World, { flags }: InjectInput): Promise<number> {
  const room = await import("../../inject/mod.ts");
  const cluster = await fromCluster(world, flags, room);
  world.permissions.keepOnly(permissionsFor(flags));
  const files = await readConfiguration(world, flags);
  const configuration = room.configurationOf({
    config: files.config ?? cluster?.config,
    values: files.values ?? cluster?.values,
    mesh: files.mesh ?? cluster?.mesh,
    hub: flags.hub,
    tag: flags.tag,
    cni: flags.cni || undefined,
  });
  if (flags.showConfig) {
    world.stdout.write(room.showConfiguration(configuration));
    return EXIT.ok;
  }
  const inputs = await expandInputs(world, flags.filename, flags.recursive);
  const injector = await room.loadInjector({
    ...configuration,
    revision: flags.revision,
    nativeSidecars: flags.nativeSidecars || undefined,
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
async function fromCluster(world: World, flags: Flags, room: Room): Promise<ClusterConfiguration | undefined> {
  if (!flags.fromCluster) return undefined;
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
function permissionsFor(flags: Flags): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  if (!["yaml", "json", "-"].includes(flags.output)) names.push("write");
  if (flags.filename.some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}
