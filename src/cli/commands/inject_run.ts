import { EXIT, UsageError } from "../../core/errors.ts";
import type { PermissionName, Scratch, World } from "../../core/world/world.ts";
import type { ClusterConfiguration, Injector, ManifestInput, WorkloadKind } from "../../inject/mod.ts";
import { readConfiguration } from "../configuration.ts";
import { expandInputs } from "../inputs.ts";
import type { InjectInput } from "./inject.ts";
import { buildKustomization } from "../kustomization.ts";
import { openOutput, type OutputTarget, outputTarget } from "../output.ts";
import { reporter } from "../reporter.ts";

type Flags = InjectInput["flags"];
type Room = typeof import("../../inject/mod.ts");

/** Runs `inject`; returns the exit code: 1 if any resource failed. */
export async function runInject(world: World, { flags }: InjectInput): Promise<number> {
  const target = outputTarget(flags.output);
  const room = await import("../../inject/mod.ts");
  // A cluster's configuration is read with fewer permissions than kubectl needs.
  const built = flags.kustomize === undefined || flags.showConfig
    ? undefined
    : await buildKustomization(world, flags.kustomize);
  const templatePaths = flags.templatePath.map((text) => room.templatePath(text) ?? refusePath(text));
  const cluster = await fromCluster(world, flags, { target, room });
  const scratch = openedEarly(world, flags, target);
  world.permissions.keepOnly(permissionsFor(flags, target));
  const files = await readConfiguration(world, flags);
  const given = {
    config: files.config ?? cluster?.config,
    values: files.values ?? cluster?.values,
    mesh: files.mesh ?? cluster?.mesh,
    hub: flags.hub,
    tag: flags.tag,
    cni: flags.cni || undefined,
  };
  const configuration = room.configurationOf(given);
  if (flags.showConfig) {
    world.stdout.write(room.showConfiguration(configuration));
    return EXIT.ok;
  }
  const inputs = built === undefined ? await expandInputs(world, flags.filename, flags.recursive) : [built];
  const injector = await room.loadInjector({
    ...configuration,
    revision: flags.revision,
    nativeSidecars: flags.nativeSidecars || undefined,
    byHand: true,
    env: (name) => world.env.get(name),
    now: () => world.clock.now(),
  });
  const notes = [room.describeConfiguration({ files, cluster }), ...injector.notes];
  const warnings = room.unknownKeys(files, injector, configuration.config.text);
  return await injectAll(world, flags, { warnings, inputs, injector, notes, target, scratch, templatePaths, room });
}

function refusePath(text: string): never {
  const hint = 'it takes KIND=PATH, such as "Foo=spec.template"';
  throw new UsageError(`The flag --template-path cannot be "${text}"`, { hint });
}

interface Work {
  readonly inputs: readonly ManifestInput[];
  readonly injector: Injector;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly target: OutputTarget;
  readonly scratch: () => Scratch;
  readonly templatePaths: readonly WorkloadKind[];
  readonly room: Room;
}

async function injectAll(world: World, flags: Flags, work: Work): Promise<number> {
  const { inputs, injector, notes, warnings, target, scratch, templatePaths, room } = work;
  const report = reporter(world, { format: flags.report, severalFiles: inputs.length > 1 }, room);
  const output = await openOutput(world, target, { keepGoing: flags.keepGoing, scratch });
  report.notes(notes);
  report.warnings(warnings);
  try {
    const options = { namespace: flags.namespace, output: output.format, templatePaths };
    const sink = { write: output.write, report: report.entry };
    const injected = room.injectStream(inputs, injector, { ...options, sink });
    const summary = await Promise.race([injected, output.interrupted]);
    const failed = summary.failed > 0;
    const isWritten = !failed || flags.keepGoing;
    if (isWritten) output.commit();
    else output.abort();
    report.end(summary, { file: output.file, isWritten });
    return failed ? EXIT.failed : EXIT.ok;
  } catch (error) {
    output.abort();
    throw error;
  }
}

/** The file for output that memory cannot hold is opened while that is permitted. A failure counts when it is needed. */
function openedEarly(world: World, flags: Flags, { file }: OutputTarget): () => Scratch {
  const open = () => world.files.scratch();
  if (flags.keepGoing || flags.showConfig || file !== undefined) return open;
  try {
    const scratch = open();
    return () => scratch;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

interface Cluster extends ClusterConfiguration {
  readonly server: string;
  readonly revision: string;
}

/** The configuration in the cluster; `undefined` if the user did not ask for it. */
async function fromCluster(
  world: World,
  flags: Flags,
  { target, room }: Pick<Work, "target" | "room">,
): Promise<Cluster | undefined> {
  if (!flags.fromCluster) return undefined;
  const { connect } = await import("../../core/kube/client/mod.ts");
  const api = await connect(world, flags);
  world.permissions.keepOnly([
    ...new Set<PermissionName>([...api.permissions, "write", ...permissionsFor(flags, target)]),
  ]);
  try {
    const configuration = await room.clusterConfiguration(api, room.clusterNames(flags));
    return { ...configuration, server: api.server, revision: flags.revision };
  } finally {
    api.close();
  }
}

/** What a manifest or a template could misuse is given up before the first of them is read. */
function permissionsFor(flags: Flags, { file }: OutputTarget): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  if (file !== undefined) names.push("write");
  if (flags.filename.some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}
