import { ClosedPipeError, EXIT, MeshError, UsageError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

/** Where manifests go: standard output, or a file that is replaced only if nothing failed. */
export interface ProductOutput {
  readonly format: "yaml" | "json";
  /** The file's path, `undefined` for standard output. */
  readonly file: string | undefined;
  /** Rejects when a signal ends the program. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** Nothing failed: puts the file in place. */
  commit(): void;
  /** Something failed: the file stays as it was. */
  abort(): void;
}

/** Small writes are collected: a system call for each would take most of the time. */
const BUFFER_CHARACTERS = 64 * 1024;

/**
 * Opens what `-o` names: a format, `-` for standard output, or a file, whose suffix is the format. Errors: a MeshError
 * for a file that cannot be written, before any input is read.
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

/** After a failure the user still gets what was injected before it. A closed pipe is no second failure then. */
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

/** A promise that SIGINT or SIGTERM rejects, until `off` is called. */
function interruption(world: World, message: string) {
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
