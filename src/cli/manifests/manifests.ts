/** Commands that read manifests, change the pods in them, and write them. */
import { EXIT, UsageError } from "../../base/errors.ts";
import type { PermissionName, Scratch, World } from "../../platform/world.ts";
import type { Change, DocumentOptions, ManifestInput, Sink, Summary, WorkloadKind } from "../../inject/mod.ts";
import type { Input } from "../command.ts";
import type { MANIFESTS } from "../shared_flags.ts";
import { HeldFiles, IN_PLACE, inFolder } from "./each_file.ts";
import { expandInputs } from "./inputs.ts";
import { buildKustomization } from "./kustomization.ts";
import { areSmall, releaseForLargeInputs } from "./large_inputs.ts";
import { type ManifestProgress, manifestProgress } from "./progress.ts";
import { interruption, openOutput, type OutputTarget } from "./output.ts";
import { type Reporter, reporter } from "./reporter.ts";

/** The values of the flags about manifests. */
export type ManifestFlags = Input<{ "Manifests": typeof MANIFESTS }>["flags"];

type Room = typeof import("../../inject/mod.ts");

/** What is done with manifests. */
export interface ManifestWork {
  readonly inputs: readonly ManifestInput[];
  readonly change: Change;
  /** Gets what the change needs to know about a document. */
  readonly prepare?: DocumentOptions["prepare"];
  /** What the change is called: "injected". */
  readonly done: string;
  readonly notes: readonly string[];
  readonly warnings: readonly string[];
  readonly target: OutputTarget;
  readonly scratch: (() => Scratch) | undefined;
  readonly templatePaths: readonly WorkloadKind[];
  readonly room: Room;
  /** Is called for each resource. */
  readonly resourceDone: Prepared["resourceDone"];
}

/** What was done before permissions were given up. */
export interface Prepared {
  /** What `-k` or `-f` names; none if something is wrong with it. */
  readonly inputs: readonly ManifestInput[];
  /** To be called for each resource: releases memory once if the inputs are large. */
  readonly resourceDone: () => void;
}

/** A run of a command. */
interface Run extends ManifestWork {
  readonly world: World;
  readonly flags: ManifestFlags;
  readonly report: Reporter;
  readonly progress: ManifestProgress;
}

/** Changes all manifests, reports and writes them. Returns the exit code: 1 if any resource failed. */
export async function changeManifests(world: World, flags: ManifestFlags, work: ManifestWork): Promise<number> {
  const { inputs, done, target, room } = work;
  // Manifests that go to the terminal at once would be in its way.
  const progress = manifestProgress(world, flags.report !== "json" && !(flags.keepGoing && target.file === undefined));
  const severalFiles = inputs.length > 1;
  const report = reporter(world, { format: flags.report, severalFiles, done, before: progress.hide }, room);
  const run = { ...work, world, flags, report, progress };
  try {
    return await changeAs(run);
  } finally {
    progress.end();
  }
}

async function changeAs(run: Run): Promise<number> {
  const { flags, target } = run;
  // An output that cannot be written is told before anything else.
  if (flags.diff === undefined && !flags.inPlace && target.folder === undefined) return await changeAll(run);
  tellConfiguration(run);
  if (flags.diff !== undefined) return await showDiff(run, flags.diff);
  return await changeEach(run);
}

function tellConfiguration({ report, notes, warnings }: Run): void {
  report.notes(notes);
  report.warnings(warnings);
}

async function changed(
  run: Run,
  inputs: readonly ManifestInput[],
  sink: Omit<Sink, "report">,
): Promise<Summary> {
  const { flags: { namespace, patch }, target, templatePaths, change, prepare, progress, room } = run;
  const sinks: Sink = {
    ...sink,
    report: (entry) => {
      run.report.entry(entry);
      progress.done(entry);
      run.resourceDone();
    },
  };
  const options = { namespace, output: target.format, patch, templatePaths, prepare, sink: sinks };
  const summary = await room.changeStream(progress.watched(inputs), change, options);
  progress.hide();
  return summary;
}

async function changeAll(run: Run): Promise<number> {
  const { world, flags: { keepGoing }, target, scratch, report, inputs } = run;
  const output = await openOutput(world, target, { keepGoing, scratch });
  tellConfiguration(run);
  try {
    const summary = await Promise.race([changed(run, inputs, { write: output.write }), output.interrupted]);
    const failed = summary.failed > 0;
    const isWritten = !failed || keepGoing;
    if (isWritten) output.commit();
    else output.abort();
    report.end(summary, { file: output.file, isWritten });
    return failed ? EXIT.failed : EXIT.ok;
  } catch (error) {
    output.abort();
    throw error;
  }
}

/** Every file gets its own output. None is written before all are done. */
async function changeEach(run: Run): Promise<number> {
  const { world, flags: { keepGoing, patch }, target: { folder }, report, inputs } = run;
  const places = folder === undefined ? IN_PLACE : inFolder(folder);
  const paths = inputs.map((input) => [places.of(input), input] as const);
  const held = new HeldFiles(run.scratch);
  const signals = interruption(world, "Interrupted: nothing is written");
  try {
    const changes = new Set<string>();
    let summary: Summary = NOTHING;
    for (const [path, input] of paths) {
      held.begin(path);
      const one = await Promise.race([changed(run, [input], { write: (text) => held.write(text) }), signals.promise]);
      if ((places.writesAll && !patch) || one.injected + one.uninjected > 0) changes.add(path);
      summary = sum(summary, one);
    }
    signals.off();
    const isWritten = summary.failed === 0 || keepGoing;
    const written = isWritten ? await held.commit(world, (path) => changes.has(path)) : [];
    report.end(summary, { file: undefined, isWritten, files: written.length });
    return summary.failed > 0 ? EXIT.failed : EXIT.ok;
  } finally {
    signals.off();
    held.drop();
  }
}

const NOTHING: Summary = { injected: 0, uninjected: 0, skipped: 0, unchanged: 0, failed: 0 };

function sum(a: Summary, b: Summary): Summary {
  return {
    injected: a.injected + b.injected,
    uninjected: a.uninjected + b.uninjected,
    skipped: a.skipped + b.skipped,
    unchanged: a.unchanged + b.unchanged,
    failed: a.failed + b.failed,
  };
}

/** Prints what would change. As with `kubectl diff`, 1 says that something would. */
async function showDiff(run: Run, kind: "unified" | "external"): Promise<number> {
  const { world, report, inputs, progress } = run;
  // Few runs need it, and its colors ask the environment when they load.
  const { differ } = await import("./differ.ts");
  const diff = await differ(world, kind);
  try {
    const document: typeof diff.add = (source, text) => {
      progress.hide();
      diff.add(source, text);
    };
    const summary = await changed(run, inputs, { write: () => {}, document });
    const differs = await diff.end();
    report.end(summary, { file: undefined, isWritten: true });
    if (summary.failed > 0) return EXIT.usage;
    return differs ? EXIT.failed : EXIT.ok;
  } finally {
    diff.drop();
  }
}

/**
 * What is done before permissions are given up: builds what `-k` names, removes what killed runs left beside the outputs, and
 * prepares the release of memory.
 */
export async function preparedManifests(
  world: World,
  flags: ManifestFlags,
  target: OutputTarget,
): Promise<Prepared> {
  const { kustomize, filename, recursive } = flags;
  // What is wrong with the inputs is told by `manifestInputs`. Their content is not read yet.
  const inputs = kustomize === undefined
    ? await expandInputs(world, filename, recursive).catch(() => [])
    : [await buildKustomization(world, kustomize)];
  tidyOutputs(world, flags, target, inputs);
  return { inputs, resourceDone: releaseForLargeInputs(world.system, inputs) };
}

/** The inputs that were prepared. Errors: those of {@link expandInputs}. */
export async function manifestInputs(
  world: World,
  { filename, recursive }: ManifestFlags,
  { inputs }: Pick<Prepared, "inputs">,
): Promise<readonly ManifestInput[]> {
  return inputs.length > 0 ? inputs : await expandInputs(world, filename, recursive);
}

/** The rows of `--template-path`. Errors: a UsageError for a text that is none. */
export function templatePathsOf(
  { templatePath = [] }: { readonly templatePath?: readonly string[] | undefined },
  room: Room,
): readonly WorkloadKind[] {
  return templatePath.map((text) => room.templatePath(text) ?? refusePath(text));
}

function refusePath(text: string): never {
  const hint = 'it takes KIND=PATH, such as "Foo=spec.template"';
  throw new UsageError(`The flag --template-path cannot be "${text}"`, { hint });
}

function tidyOutputs(
  world: World,
  flags: ManifestFlags,
  { file, folder }: OutputTarget,
  inputs: readonly ManifestInput[],
): void {
  if (file !== undefined) world.files.tidyTemporary(file);
  if (folder === undefined && !flags.inPlace) return;
  for (const { file: path, name } of inputs) {
    if (name !== undefined) world.files.tidyTemporary(folder === undefined ? path : `${folder}/${name}`);
  }
}

/**
 * What {@link openedEarly} returns; `undefined` for small files, which need none: to open it, and to wait for signals, takes 2 of the 60 ms of a small `inject`.
 */
export function openedUnlessSmall(
  world: World,
  flags: ManifestFlags,
  target: OutputTarget,
  { inputs }: Pick<Prepared, "inputs">,
): (() => Scratch) | undefined {
  const isSmall = flags.kustomize === undefined && !flags.keepGoing && inputs.length > 0 && areSmall(inputs);
  // An external diff needs files of its own.
  return isSmall && flags.diff === undefined ? undefined : openedEarly(world, flags, target);
}

/** The file for output that memory cannot hold is opened while that is permitted. A failure counts when it is needed. */
export function openedEarly(world: World, flags: ManifestFlags, { file }: OutputTarget): () => Scratch {
  const open = () => world.files.scratch();
  if (flags.diff === "external") world.files.tidyTemporary();
  if (flags.keepGoing || flags.diff !== undefined || file !== undefined) return open;
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
export function permissionsFor(flags: ManifestFlags, { file, folder }: OutputTarget): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  const runs = flags.diff === "external";
  if (file !== undefined || folder !== undefined || flags.inPlace || runs) names.push("write");
  if (runs) names.push("run");
  if (flags.filename.some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}
