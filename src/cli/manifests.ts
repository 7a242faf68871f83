/** Commands that read manifests, change the pods in them, and write them. */
import { EXIT, UsageError } from "../core/errors.ts";
import type { PermissionName, Scratch, World } from "../core/world/world.ts";
import type { Change, ManifestInput, WorkloadKind } from "../inject/mod.ts";
import type { Input } from "./command.ts";
import { expandInputs } from "./inputs.ts";
import { buildKustomization } from "./kustomization.ts";
import { openOutput, type OutputTarget } from "./output.ts";
import { reporter } from "./reporter.ts";
import type { MANIFESTS } from "./shared_flags.ts";

/** The values of the flags about manifests. */
export type ManifestFlags = Input<{ "Manifests": typeof MANIFESTS }>["flags"];

type Room = typeof import("../inject/mod.ts");

/** What is done with manifests. */
export interface ManifestWork {
  readonly inputs: readonly ManifestInput[];
  readonly change: Change;
  /** What the change is called: "injected". */
  readonly done: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly target: OutputTarget;
  readonly scratch: () => Scratch;
  readonly templatePaths: readonly WorkloadKind[];
  readonly room: Room;
}

/** Changes all manifests, reports and writes them. Returns the exit code: 1 if any resource failed. */
export async function changeManifests(world: World, flags: ManifestFlags, work: ManifestWork): Promise<number> {
  const { inputs, change, done, notes, warnings, target, scratch, templatePaths, room } = work;
  const report = reporter(world, { format: flags.report, severalFiles: inputs.length > 1, done }, room);
  const output = await openOutput(world, target, { keepGoing: flags.keepGoing, scratch });
  report.notes(notes);
  report.warnings(warnings);
  try {
    const options = { namespace: flags.namespace, output: output.format, templatePaths };
    const sink = { write: output.write, report: report.entry };
    const changed = room.changeStream(inputs, change, { ...options, sink });
    const summary = await Promise.race([changed, output.interrupted]);
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

/** What `-k` names, built; `undefined` without it. */
export async function builtManifests(world: World, { kustomize }: ManifestFlags): Promise<ManifestInput | undefined> {
  return kustomize === undefined ? undefined : await buildKustomization(world, kustomize);
}

/** The inputs that `-f` names, unless they are built. */
export async function manifestInputs(
  world: World,
  { filename, recursive }: ManifestFlags,
  built: ManifestInput | undefined,
): Promise<readonly ManifestInput[]> {
  return built === undefined ? await expandInputs(world, filename, recursive) : [built];
}

/** The rows of `--template-path`. Errors: a UsageError for a text that is none. */
export function templatePathsOf({ templatePath }: ManifestFlags, room: Room): readonly WorkloadKind[] {
  return templatePath.map((text) => room.templatePath(text) ?? refusePath(text));
}

function refusePath(text: string): never {
  const hint = 'it takes KIND=PATH, such as "Foo=spec.template"';
  throw new UsageError(`The flag --template-path cannot be "${text}"`, { hint });
}

/** The file for output that memory cannot hold is opened while that is permitted. A failure counts when it is needed. */
export function openedEarly(world: World, { keepGoing }: ManifestFlags, { file }: OutputTarget): () => Scratch {
  const open = () => world.files.scratch();
  if (keepGoing || file !== undefined) return open;
  try {
    const scratch = open();
    return () => scratch;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** What a manifest or a template could misuse is given up before the first of them is read. */
export function permissionsFor({ filename }: ManifestFlags, { file }: OutputTarget): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  if (file !== undefined) names.push("write");
  if (filename.some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}
