import { closest, trimmedEnd } from "../../base/text/mod.ts";
import { ClosedPipeError, MeshError, UsageError } from "../../base/errors.ts";
import { interruption } from "../../platform/progress.ts";
import type { Scratch, World } from "../../platform/world.ts";
import { holdOutput } from "./held_output.ts";

export interface OutputTarget {
  readonly format: "yaml" | "json";
  /** `undefined` for standard output. */
  readonly file: string | undefined;
  /** The folder for a file of each input. */
  readonly folder?: string;
}

/** Standard output, or a file. It is written only if nothing failed, unless the user keeps going. */
interface ProductOutput extends OutputTarget {
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** Writes what is held, or puts the file in place. */
  commit(): void;
  /** Writes nothing more; the file stays as it was. */
  abort(): void;
}

interface OutputOptions {
  /** Standard output gets each document at once, even if others fail. */
  readonly keepGoing: boolean;
  /** Opens the file for output that is too large for memory. */
  readonly scratch: (() => Scratch) | undefined;
}

/** Small writes are collected, to save system calls. */
const BUFFER_CHARACTERS = 64 * 1024;

/** kubectl's formats with a value, in any letter case. A user who names one does not mean a file. */
const OTHER_FORMATS =
  /^(jsonpath|jsonpath-as-json|jsonpath-file|go-template|go-template-file|template|templatefile|custom-columns|custom-columns-file)=/i;

/**
 * Reads the value of `-o`: a format, `-` for standard output, or a file, whose suffix is the format. Errors: a UsageError
 * for a format that only kubectl has, and for a word with neither `.` nor `/`, which is a misspelt format.
 */
export function outputTarget(output: string): OutputTarget {
  if (output === "yaml" || output === "json") return { format: output, file: undefined };
  if (output === "-" || output === "/dev/stdout") return { format: "yaml", file: undefined };
  const hint = "-o takes yaml, json, the name of a file, or the name of a folder and /";
  if (output.endsWith("/")) return { format: "yaml", file: undefined, folder: trimmedEnd(output, "/", 1) };
  if (output === "") throw new UsageError("The output has no name", { hint });
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

/** The target of `-o`, for which the name of a folder that exists is a folder. Errors: as {@link outputTarget}. */
export async function outputIn({ files }: Pick<World, "files">, output: string): Promise<OutputTarget> {
  const isWord = /^[^./]+$/.test(output) && output !== "-" && output !== "yaml" && output !== "json";
  const isFolder = isWord && (await files.stat(output))?.kind === "directory";
  return outputTarget(isFolder ? `${output}/` : output);
}

/** Opens the output. Errors: a MeshError for a file that cannot be written, before any input is read. */
export async function openOutput(world: World, target: OutputTarget, options: OutputOptions): Promise<ProductOutput> {
  const { file } = target;
  if (file !== undefined && (await world.files.stat(file))?.kind === "directory") {
    throw new MeshError(`Cannot write "${file}": it is a directory`, {
      hint: `name a file in it; "${file}/" gets a file for each input`,
    });
  }
  const { write, commit, abort } = file === undefined ? standardOutput(world, options) : fileOutput(world, file);
  const lost = file === undefined ? options.keepGoing ? "" : ": nothing is written" : `: "${file}" is not written`;
  const signals = interruption(world, () => `Interrupted${lost}`);
  return {
    ...target,
    interrupted: signals.promise,
    write,
    commit() {
      signals.off();
      commit();
    },
    abort() {
      signals.off();
      abort();
    },
  };
}

const encoder = new TextEncoder();

function standardOutput(world: World, { keepGoing, scratch }: OutputOptions) {
  const held = holdOutput(scratch);
  const print = (bytes: Uint8Array) => world.stdout.write(bytes);
  const { write, flush } = buffered((text) => {
    const bytes = encoder.encode(text);
    if (keepGoing) print(bytes);
    else held.add(bytes);
  });
  return {
    write,
    commit() {
      flush();
      held.release(print);
      held.drop();
    },
    abort() {
      if (keepGoing) unlessClosed(flush);
      held.drop();
    },
  };
}

/** Ignores a closed pipe: something else failed before. */
function unlessClosed(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

function fileOutput(world: World, path: string) {
  const replacement = world.files.replace(path);
  const { write, flush } = buffered((text) => replacement.write(text));
  return {
    write,
    commit() {
      flush();
      replacement.commit();
    },
    abort: () => replacement.abort(),
  };
}

function buffered(write: (text: string) => void) {
  let pending: string[] = [];
  let length = 0;
  const flush = () => {
    if (length > 0) write(pending.join(""));
    pending = [];
    length = 0;
  };
  return {
    flush,
    write(text: string) {
      pending.push(text);
      length += text.length;
      if (length >= BUFFER_CHARACTERS) flush();
    },
  };
}
