/** The shared part of commands that read manifests, change the pods in them, and write them. */
import { EXIT, UsageError } from "../../base/errors.ts";
import { withSoFar } from "../../platform/progress.ts";
import type { PermissionName, World } from "../../platform/world.ts";
import type { Change, DocumentOptions, FileWarning, ManifestInput, Sink, WorkloadKind } from "../../inject/mod.ts";
import type { ManifestFlags } from "../shared_flags.ts";
import type { Findings } from "./findings.ts";
import { refuseNested } from "./each_file.ts";
import { expandInputs } from "./inputs.ts";
import { buildKustomization } from "./kustomization.ts";
import { type ManifestOutput, removeLeftovers } from "./manifest_output.ts";
import { outputIn, type OutputTarget } from "./output.ts";
import { manifestProgress } from "./progress.ts";
import { reporter } from "./reporter.ts";

type InjectModule = typeof import("../../inject/mod.ts");

interface ManifestWork {
  readonly inputs: readonly ManifestInput[];
  readonly change: Change;
  /** Loads data that the change needs for a document. */
  readonly prepare?: DocumentOptions["prepare"];
  /** The verb for a changed resource: "injected". */
  readonly done: string;
  readonly notes: readonly string[];
  /** Returns the notes that rendering has added since the last call. */
  readonly newNotes?: () => readonly string[];
  /** Warnings about the configuration. */
  readonly warnings: readonly FileWarning[];
  readonly target: OutputTarget;
  readonly output: ManifestOutput;
  readonly templatePaths: readonly WorkloadKind[];
  readonly inject: InjectModule;
  /** The Pod Security level that injected pods must meet. */
  readonly fit?: DocumentOptions["fit"];
  /** The filter of findings; absent for a command without rules. */
  readonly findings?: Findings | undefined;
}

/** Changes each document, reports its resources, and finishes the output. Returns exit code 1 if a resource failed. */
export async function changeManifests(world: World, flags: ManifestFlags, work: ManifestWork): Promise<number> {
  const { inputs, change, done, target, output, inject, findings } = work;
  // A progress line would disturb manifests that are printed to the terminal immediately.
  const isStreaming = flags.keepGoing && target.file === undefined;
  const progress = manifestProgress(world, !["json", "sarif"].includes(flags.report) && !isStreaming);
  const severalFiles = inputs.length > 1;
  const report = reporter(world, { format: flags.report, severalFiles, done, before: progress.hide }, inject);
  report.notes(work.notes);
  report.warnings(work.warnings);
  findings?.warnings(work.warnings);
  const { document } = output;
  const sink: Sink = {
    ...output,
    ...document === undefined ? {} : {
      document: (source, text) => {
        progress.hide();
        document(source, text);
      },
    },
    report: (found) => {
      const entry = findings?.entry(found) ?? found;
      output.report?.(entry);
      report.notes(work.newNotes?.() ?? []);
      report.entry(entry);
      progress.done(entry);
    },
  };
  const { namespace, patch } = flags;
  const { prepare, templatePaths, fit } = work;
  const rules = rulesFor(inject, findings);
  const options = { namespace, patch, templatePaths, prepare, fit, output: target.format, sink, ...rules.options };
  try {
    const changed = inject.changeStream(progress.watched(inputs), change, options);
    const summary = await Promise.race([changed, withSoFar(output.interrupted, progress)]);
    progress.end();
    report.together(rules.together());
    const ended = await output.end(summary);
    report.end(summary, ended);
    const failure = findings?.failure;
    if (failure === undefined) return ended.exitCode;
    const isSaved = ended.isWritten && flags.diff === undefined;
    report.failure(`${failure}${isSaved ? "; the output was written" : ""}`);
    return ended.exitCode === EXIT.ok ? EXIT.failed : ended.exitCode;
  } finally {
    progress.end();
  }
}

/** Returns the options for rules; empty for a command without rules. */
function rulesFor(inject: InjectModule, findings: Findings | undefined) {
  if (findings === undefined) return { options: {}, together: () => [] };
  const facts = new inject.InputFacts();
  return {
    options: { rulesOff: findings.off, seen: (object: Parameters<typeof facts.add>[0]) => facts.add(object) },
    together: () => findings.together(inject.inputFindings(facts, findings.off)),
  };
}

/**
 * Returns the inputs of `-f` or `-k` without reading the files, the target of `-o`, and the paths of `--template-path`.
 * Removes temporary files of earlier runs. Throws the errors of `expandInputs` and `buildKustomization`, and a
 * UsageError for a wrong flag.
 */
export async function readManifestFlags(world: World, flags: ManifestFlags, inject: InjectModule) {
  const { kustomize, filename, recursive, output } = flags;
  const target = await outputIn(world, output);
  const templatePaths = templatePathsOf(flags, inject);
  const inputs = kustomize === undefined
    ? await expandInputs(world, filename, recursive)
    : [await buildKustomization(world, kustomize)];
  if (recursive && target.folder !== undefined) refuseNested(world, target.folder, filename);
  removeLeftovers(world, flags, target, inputs);
  return { inject, target, templatePaths, inputs };
}

/** Parses the values of `--template-path`. Throws a UsageError for an invalid value. */
export function templatePathsOf(
  { templatePath = [] }: { readonly templatePath?: readonly string[] | undefined },
  inject: InjectModule,
): readonly WorkloadKind[] {
  return templatePath.map((text) => inject.templatePath(text) ?? refusePath(text));
}

function refusePath(text: string): never {
  const hint = 'it takes KIND=PATH, such as "Foo=spec.template"';
  throw new UsageError(`The flag --template-path cannot be "${text}"`, { hint });
}

/** Returns the permissions that a run keeps while it reads untrusted manifests and templates. */
export function permissionsFor(flags: ManifestFlags, { file, folder }: OutputTarget): PermissionName[] {
  const names: PermissionName[] = ["read", "env"];
  const runs = flags.diff === "external";
  if (file !== undefined || folder !== undefined || flags.inPlace || runs) names.push("write");
  if (runs) names.push("run");
  if (flags.filename.some((name) => name.startsWith("https://"))) names.push("net");
  return names;
}
