import { ClosedPipeError, EXIT, MeshError, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

/** Where a command's product goes: standard output, or a file that is replaced only if all went well. */
export interface ProductOutput {
  readonly format: "yaml" | "json";
  /** The file's path, `undefined` for standard output. */
  readonly file: string | undefined;
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** All is well: the file is put in place. */
  commit(): void;
  /** It is not: the file stays as it was. */
  abort(): void;
}

/** Small writes are gathered: one system call for each would be most of the time. */
const BUFFER_CHARACTERS = 64 * 1024;

/**
 * What `-o` says: a word that is a format is the format, `-` is standard output, anything else names a file, whose ending
 * tells the format. Errors: a MeshError for a file that cannot be written, before anything else is done.
 */
export async function openOutput(world: World, output: string): Promise<ProductOutput> {
  if (output === "yaml" || output === "json") return standardOutput(world, output);
  if (output === "-" || output === "/dev/stdout") return standardOutput(world, "yaml");
  if (output === "") {
    throw new UsageError("The output has no name", { hint: "-o takes yaml, json or the name of a file" });
  }
  const facts = await world.files.facts(output);
  if (facts?.kind !== "directory") return fileOutput(world, output);
  throw new MeshError(`Cannot write "${output}": it is a directory`, { hint: "name a file in it" });
}

/** What was injected before a failure is still for the user to see; that nobody reads it is no second failure. */
function standardOutput(world: World, format: "yaml" | "json"): ProductOutput {
  const { write, flush } = buffered((text) => world.stdout.write(text));
  const signals = interruption(world, "Interrupted");
  return {
    format,
    file: undefined,
    interrupted: signals.promise,
    write,
    commit: () => {
      signals.off();
      flush();
    },
    abort: () => {
      signals.off();
      quietly(flush);
    },
  };
}

function quietly(action: () => void): void {
  try {
    action();
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

function fileOutput(world: World, path: string): ProductOutput {
  const replacement = world.files.replace(path);
  const { write, flush } = buffered((text) => replacement.write(text));
  const signals = interruption(world, `Interrupted: "${path}" is not written`);
  return {
    format: path.endsWith(".json") ? "json" : "yaml",
    file: path,
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

/** A promise that a signal rejects, until `off` is called. */
function interruption(world: World, message: string) {
  const { promise, reject } = Promise.withResolvers<never>();
  // Whether anyone waits for it or not, an interruption is not an unhandled failure.
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
