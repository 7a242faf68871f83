/** The output of changed manifests: one output, one output per input, or a diff. If a resource fails, no output is written. */
import { EXIT } from "../../base/errors.ts";
import { interruption } from "../../platform/progress.ts";
import type { World } from "../../platform/world.ts";
import type { ManifestInput, Sink, Summary } from "../../inject/mod.ts";
import { type HeldFile, outputPaths, refuseReplaced, writeFiles } from "./each_file.ts";
import type { ManifestFlags } from "../shared_flags.ts";
import { openOutput, type OutputTarget } from "./output.ts";
import type { Written } from "./reporter.ts";

export interface Ended extends Written {
  readonly exitCode: number;
}

/** An open output. Disposing it before `end` leaves all files unchanged. */
export interface ManifestOutput extends Pick<Sink, "begin" | "write" | "document">, Disposable {
  report?: Sink["report"];
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  /** Writes the output, unless a resource failed without --keep-going. */
  end(summary: Summary): Promise<Ended>;
}

type Flags = Pick<ManifestFlags, "diff" | "inPlace" | "keepGoing" | "patch">;

/**
 * Removes the temporary files that killed runs left beside the outputs. Call this before giving up permissions, because
 * the function checks which processes still exist.
 */
export function removeLeftovers(
  world: World,
  { diff, inPlace }: Flags,
  { file, folder }: OutputTarget,
  inputs: readonly ManifestInput[],
): void {
  if (diff === "external") world.files.tidyTemporary();
  if (file !== undefined) world.files.tidyTemporary(file);
  if (folder === undefined && !inPlace) return;
  for (const { file: path, name } of inputs) {
    if (name !== undefined) world.files.tidyTemporary(folder === undefined ? path : `${folder}/${name}`);
  }
}

/**
 * Opens the output. Afterwards the permissions of `permissionsFor` are enough. Rejects with a MeshError if the output
 * is not writable.
 */
export async function openManifestOutput(
  world: World,
  flags: Flags,
  target: OutputTarget,
  inputs: readonly ManifestInput[],
): Promise<ManifestOutput> {
  if (flags.diff !== undefined) return await diffOutput(world, flags.diff);
  if (flags.inPlace || target.folder !== undefined) return eachOutput(world, flags, target, inputs);
  return await oneOutput(world, flags, target);
}

async function oneOutput(world: World, { keepGoing }: Flags, target: OutputTarget): Promise<ManifestOutput> {
  const output = await openOutput(world, target, keepGoing);
  return {
    ...output,
    end({ failed }) {
      const isWritten = failed === 0 || keepGoing;
      if (isWritten) output.commit();
      return Promise.resolve({ file: target.file, isWritten, exitCode: failed > 0 ? EXIT.failed : EXIT.ok });
    },
  };
}

/** Creates an output that writes one file per input, after all resources have succeeded. */
function eachOutput(
  world: World,
  { keepGoing, patch }: Flags,
  { folder }: OutputTarget,
  inputs: readonly ManifestInput[],
): ManifestOutput {
  const paths = outputPaths(inputs, folder);
  if (folder !== undefined) refuseReplaced(world, paths, inputs);
  const held: HeldFile[] = [];
  const signals = interruption(world, () => "Interrupted: nothing is written");
  return {
    begin: () =>
      void held.push({ path: paths[held.length] ?? "", texts: [], isChanged: folder !== undefined && !patch }),
    write: (text) => void held.at(-1)?.texts.push(text),
    report({ result }) {
      const file = held.at(-1);
      if (file !== undefined && (result === "injected" || result === "uninjected")) file.isChanged = true;
    },
    interrupted: signals.promise,
    async end({ failed }) {
      signals.off();
      const isWritten = failed === 0 || keepGoing;
      const files = isWritten ? held.filter(({ isChanged }) => isChanged) : [];
      await writeFiles(world, files);
      return { file: undefined, isWritten, files: files.length, exitCode: failed > 0 ? EXIT.failed : EXIT.ok };
    },
    [Symbol.dispose]: () => signals.off(),
  };
}

/**
 * Creates an output that prints a diff. Exit code 1 means a difference, as in `kubectl diff`. Signals keep their
 * default action.
 */
async function diffOutput(world: World, kind: NonNullable<Flags["diff"]>): Promise<ManifestOutput> {
  // Loaded on demand: few runs need this module, and its colors read the environment at load time.
  const { differ } = await import("./differ.ts");
  const diff = await differ(world, kind);
  return {
    write: () => {},
    document: diff.add,
    interrupted: new Promise(() => {}),
    async end({ failed }) {
      const differs = await diff.end();
      const exitCode = failed > 0 ? EXIT.usage : differs ? EXIT.failed : EXIT.ok;
      return { file: undefined, isWritten: true, exitCode };
    },
    [Symbol.dispose]: () => diff.drop(),
  };
}
