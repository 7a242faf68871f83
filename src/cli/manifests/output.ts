import { trimmedEnd } from "../../base/text/mod.ts";
import { ClosedPipeError, EXIT, MeshError, UsageError } from "../../base/errors.ts";
import type { Scratch, World } from "../../platform/world.ts";
import { holdOutput } from "./held_output.ts";

/** What `-o` names. */
export interface OutputTarget {
  readonly format: "yaml" | "json";
  /** The file's path, `undefined` for standard output. */
  readonly file: string | undefined;
  /** The folder for a file of each input. */
  readonly folder?: string;
}

/** Where manifests go: standard output, or a file. Either gets them only if nothing failed, unless the user keeps going. */
export interface ProductOutput extends OutputTarget {
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** Nothing failed, or the user keeps going: writes what is held, puts the file in place. */
  commit(): void;
  /** Something failed: standard output gets nothing more, the file stays as it was. */
  abort(): void;
}

/** How output is written. */
export interface OutputOptions {
  /** Standard output gets each document when it is done, also if others fail. */
  readonly keepGoing: boolean;
  /** Opens the file for what is too large for memory. Without it memory holds all. */
  readonly scratch: (() => Scratch) | undefined;
}

/** Small writes are collected: a system call for each would take most of the time. */
const BUFFER_CHARACTERS = 64 * 1024;

/** kubectl's formats that `inject` does not have, in any case: none of them is meant as the name of a file. */
const OTHER_FORMATS =
  /^(ya?ml|json|kyaml|name|wide|table|short|text|(jsonpath|jsonpath-as-json|jsonpath-file|go-template|go-template-file|template|templatefile|custom-columns|custom-columns-file)(=.*)?)$/is;

/**
 * Reads the value of `-o`: a format, `-` for standard output, or a file, whose suffix is the format. Errors: a UsageError
 * for another format of kubectl, which would become a file of that name.
 */
export function outputTarget(output: string): OutputTarget {
  if (output === "yaml" || output === "json") return { format: output, file: undefined };
  if (output === "-" || output === "/dev/stdout") return { format: "yaml", file: undefined };
  const hint = "-o takes yaml, json, the name of a file, or that of a folder with / behind it";
  if (output.endsWith("/")) return { format: "yaml", file: undefined, folder: trimmedEnd(output, "/", 1) };
  if (output === "") throw new UsageError("The output has no name", { hint });
  if (OTHER_FORMATS.test(output)) {
    throw new UsageError(`The output cannot be "${output}"`, { hint: `${hint}; "./${output}" is a file` });
  }
  return { format: output.endsWith(".json") ? "json" : "yaml", file: output };
}

/** Opens the output. Errors: a MeshError for a file that cannot be written, before any input is read. */
export async function openOutput(world: World, target: OutputTarget, options: OutputOptions): Promise<ProductOutput> {
  const { file } = target;
  if (file === undefined) return standardOutput(world, target, options);
  const status = await world.files.stat(file);
  if (status?.kind !== "directory") return fileOutput(world, target, file);
  throw new MeshError(`Cannot write "${file}": it is a directory`, {
    hint: `name a file in it; "${file}/" gets a file for each input`,
  });
}

const encoder = new TextEncoder();

function standardOutput(world: World, target: OutputTarget, { keepGoing, scratch }: OutputOptions): ProductOutput {
  const held = holdOutput(scratch);
  const print = (bytes: Uint8Array) => world.stdout.write(bytes);
  const { write, flush } = buffered((text) => {
    const bytes = encoder.encode(text);
    if (keepGoing) print(bytes);
    else held.add(bytes);
  });
  const signals = interruption(world, keepGoing ? "Interrupted" : "Interrupted: nothing is written");
  return {
    ...target,
    interrupted: signals.promise,
    write,
    commit: () => {
      signals.off();
      flush();
      held.release(print);
      held.drop();
    },
    abort: () => {
      signals.off();
      if (keepGoing) unlessClosed(flush);
      held.drop();
    },
  };
}

/** After a failure a closed pipe is no second failure. */
function unlessClosed(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

function fileOutput(world: World, target: OutputTarget, path: string): ProductOutput {
  const replacement = world.files.replace(path);
  const { write, flush } = buffered((text) => replacement.write(text));
  const signals = interruption(world, `Interrupted: "${path}" is not written`);
  return {
    ...target,
    interrupted: signals.promise,
    write,
    commit: () => {
      signals.off();
      flush();
      replacement.commit();
    },
    abort: () => {
      signals.off();
      replacement.abort();
    },
  };
}

const SIGNAL_CODES = { SIGINT: EXIT.interrupted, SIGTERM: EXIT.terminated } as const;

/** A promise that SIGINT or SIGTERM rejects, until `off` is called. */
export function interruption(world: World, message: string) {
  const { promise, reject } = Promise.withResolvers<never>();
  // Without it an interruption that nobody awaits would end the process as an unhandled rejection.
  promise.catch(() => {});
  const offs = (["SIGINT", "SIGTERM"] as const).map((name) =>
    world.signals.on(name, () => reject(new MeshError(message, { exitCode: SIGNAL_CODES[name] })))
  );
  return { promise, off: () => offs.forEach((off) => off()) };
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
