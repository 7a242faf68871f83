import { closest, trimmedEnd } from "../../base/text/mod.ts";
import { ClosedPipeError, MeshError, UsageError } from "../../base/errors.ts";
import { interruption } from "../../platform/progress.ts";
import type { Scratch, World } from "../../platform/world.ts";
import { holdOutput } from "./held_output.ts";

export interface OutputTarget {
  readonly format: "yaml" | "json";
  /** `undefined` for standard output. */
  readonly file: string | undefined;
  /** Folder for one file per input. */
  readonly folder?: string;
}

/** Standard output or a file. Disposing it before `commit` discards the output and leaves the file unchanged. */
interface ProductOutput extends Disposable {
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** Writes the held output, or moves the file into place. */
  commit(): void;
}

/** Characters to collect before a write, which saves system calls. */
const BUFFER_CHARACTERS = 64 * 1024;

/** Matches kubectl's output formats that this program lacks, in any letter case. They are errors, not file names. */
const OTHER_FORMATS =
  /^(jsonpath|jsonpath-as-json|jsonpath-file|go-template|go-template-file|template|templatefile|custom-columns|custom-columns-file)=/i;

/**
 * Parses the value of `-o`: a format, `-` for standard output, or a file whose suffix selects the format. Throws a UsageError
 * for a format that only kubectl has, and for a word without `.` and `/`, which is a misspelt format.
 */
export function outputTarget(output: string): OutputTarget {
  if (output === "yaml" || output === "json") return { format: output, file: undefined };
  if (output === "-" || output === "/dev/stdout") return { format: "yaml", file: undefined };
  const hint = "-o accepts yaml, json, a file name, or a folder name with a trailing /";
  if (output.endsWith("/")) return { format: "yaml", file: undefined, folder: trimmedEnd(output, "/", 1) };
  if (output === "") throw new UsageError("The value of -o is empty", { hint });
  if (OTHER_FORMATS.test(output) || !/[./]/.test(output)) throw notAnOutput(output, hint);
  return { format: output.endsWith(".json") ? "json" : "yaml", file: output };
}

function notAnOutput(output: string, hint: string): UsageError {
  const meant = closest(output, ["yaml", "json"]);
  const file = `"./${output}" is a file`;
  return new UsageError(`The output cannot be "${output}"`, {
    hint: meant === undefined ? `${hint}; ${file}` : `${file}; did you mean "${meant}"?`,
  });
}

/** Parses the value of `-o`, and recognizes existing folders. Rejects with the errors of {@link outputTarget}. */
export async function outputIn({ files }: Pick<World, "files">, output: string): Promise<OutputTarget> {
  const isWord = /^[^./]+$/.test(output) && output !== "-" && output !== "yaml" && output !== "json";
  const isFolder = isWord && (await files.stat(output))?.kind === "directory";
  return outputTarget(isFolder ? `${output}/` : output);
}

/**
 * Opens the output. With `keepGoing`, standard output gets each document immediately, even if others fail. Rejects with
 * a MeshError if the file is not writable, before any input is read.
 */
export async function openOutput(world: World, { file }: OutputTarget, keepGoing: boolean): Promise<ProductOutput> {
  if (file !== undefined && (await world.files.stat(file))?.kind === "directory") {
    throw new MeshError(`Cannot write "${file}": it is a directory`, {
      hint: `name a file in the directory; "${file}/" writes one file per input`,
    });
  }
  const { write, flush, commit, abort } = parts(world, file, keepGoing);
  const lost = file === undefined ? keepGoing ? "" : ": nothing is written" : `: "${file}" is not written`;
  const signals = interruption(world, () => `Interrupted${lost}`);
  let isOpen = true;
  return {
    interrupted: signals.promise,
    write,
    commit() {
      signals.off();
      flush();
      commit();
      isOpen = false;
    },
    [Symbol.dispose]() {
      signals.off();
      if (isOpen) abort();
    },
  };
}

function parts(world: World, file: string | undefined, keepGoing: boolean) {
  if (file !== undefined) {
    const replacement = world.files.replace(file);
    return {
      ...buffered((text) => replacement.write(text)),
      commit: () => replacement.commit(),
      abort: () => replacement.abort(),
    };
  }
  if (keepGoing) {
    const direct = buffered((text) => world.stdout.write(text));
    return { ...direct, commit: () => {}, abort: () => unlessClosed(direct.flush) };
  }
  const held = holdOutput(openedScratch(world));
  const encoder = new TextEncoder();
  return {
    ...buffered((text) => held.add(encoder.encode(text))),
    commit() {
      held.release((bytes) => world.stdout.write(bytes));
      held.drop();
    },
    abort: () => held.drop(),
  };
}

/** Opens the file for large output before permissions are given up. A failure is thrown only when the file is needed. */
function openedScratch(world: World): () => Scratch {
  try {
    const scratch = world.files.scratch();
    return () => scratch;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** Runs an action and ignores a closed pipe, because an earlier error is more important. */
function unlessClosed(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

function buffered(write: (text: string) => void) {
  let pending = "";
  const flush = () => {
    const text = pending;
    pending = "";
    if (text !== "") write(text);
  };
  return {
    flush,
    write(text: string) {
      pending += text;
      if (pending.length >= BUFFER_CHARACTERS) flush();
    },
  };
}
