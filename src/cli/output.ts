import { ClosedPipeError, EXIT, MeshError } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";

/** Where a command's product goes: standard output, or a file that is replaced only if all went well. */
export interface ProductOutput {
  readonly format: "yaml" | "json";
  /** The file's path, `undefined` for standard output. */
  readonly file: string | undefined;
  /** Rejects when the user ends the program while a file is being written. */
  readonly interrupted: Promise<never>;
  write(text: string): void;
  /** All is well: the file is put in place. */
  commit(): void;
  /** It is not: the file stays as it was. */
  abort(): void;
}

/** Nothing is half-written on standard output that could be cleaned up: a signal just ends the program. */
const never = new Promise<never>(() => {});

/** Small writes are gathered: one system call for each would be most of the time. */
const BUFFER_CHARACTERS = 64 * 1024;

/** What `-o` says: a word that is a format is the format, anything else names a file; its ending tells the format. */
export function openOutput(world: World, output: string): ProductOutput {
  if (output === "yaml" || output === "json") return standardOutput(world, output);
  return fileOutput(world, output);
}

function standardOutput(world: World, format: "yaml" | "json"): ProductOutput {
  const { write, flush } = buffered((text) => world.stdout.write(text));
  return { format, file: undefined, interrupted: never, write, commit: flush, abort: () => flushQuietly(flush) };
}

/** What was injected before a failure is still for the user to see; that nobody reads it is no second failure. */
function flushQuietly(flush: () => void): void {
  try {
    flush();
  } catch (error) {
    if (!(error instanceof ClosedPipeError)) throw error;
  }
}

function fileOutput(world: World, path: string): ProductOutput {
  const replacement = world.files.replace(path);
  const { write, flush } = buffered((text) => replacement.write(text));
  const interruption = Promise.withResolvers<never>();
  // Whether anyone waits for it or not, an interruption is not an unhandled failure.
  interruption.promise.catch(() => {});
  const error = new MeshError(`Interrupted: "${path}" is left as it was`, { exitCode: EXIT.interrupted });
  const signals = (["SIGINT", "SIGTERM"] as const).map((name) =>
    world.signals.on(name, () => interruption.reject(error))
  );
  const end = (action: () => void) => {
    for (const off of signals) off();
    action();
  };
  return {
    format: path.endsWith(".json") ? "json" : "yaml",
    file: path,
    interrupted: interruption.promise,
    write,
    commit: () =>
      end(() => {
        flush();
        replacement.commit();
      }),
    abort: () => end(() => replacement.abort()),
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
