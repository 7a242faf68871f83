import type { Files } from "./files.ts";
import type { Network } from "./network.ts";
import type { Processes } from "./processes.ts";
import type { SystemCalls } from "./system_calls.ts";

export type * from "./connection.ts";
export type * from "./files.ts";
export type * from "./http.ts";
export type * from "./network.ts";
export type * from "./processes.ts";

/**
 * The operating system and the process as one object. Commands access them only through this object, so a test can run
 * a whole command against an in-memory version, and check the output and effects.
 */
export interface World {
  /** The name in argv[0], without folder and `.exe`. */
  readonly name: string;
  readonly args: readonly string[];
  readonly env: Environment;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
  readonly clock: Clock;
  readonly files: Files;
  readonly processes: Processes;
  readonly signals: Signals;
  readonly network: Network;
  /** System calls of Linux. On other systems, each call throws `SystemError`. */
  readonly system: SystemCalls;
  readonly permissions: Permissions;
  readonly machine: Machine;
}

export interface Environment {
  get(name: string): string | undefined;
  all(): Record<string, string>;
}

export interface Input {
  readonly isTerminal: boolean;
  chunks(): AsyncIterable<Uint8Array>;
}

/**
 * An output stream. `write` returns when all bytes are written, and throws `ClosedPipeError` after the reader has
 * closed the pipe.
 */
export interface Output {
  readonly isTerminal: boolean;
  /** The columns of the terminal; `undefined` if there is no terminal. */
  readonly columns: number | undefined;
  /** The rows of the terminal; `undefined` if there is no terminal. */
  readonly rows: number | undefined;
  write(chunk: string | Uint8Array): void;
}

/** Wall-clock and monotonic time. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start; never decreases. */
  monotonic(): number;
  /** Waits. The signal ends the wait early without an error. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Signals that this process can handle. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT" | "SIGUSR1" | "SIGUSR2" | "SIGCHLD";

export interface Signals {
  /** Replaces the default action with the handler until the returned function is called. */
  on(signal: SignalName, handler: () => void): () => void;
}

export type PermissionName = "read" | "write" | "net" | "run" | "env" | "sys" | "ffi" | "import";

export interface Permissions {
  /** Gives up all other permissions permanently. */
  keepOnly(names: readonly PermissionName[]): void;
}

/** Properties of the operating system and of this process. */
export interface Machine {
  readonly os: "linux" | "darwin" | "windows" | "other";
  /** Rust's name of the architecture, such as `x86_64` or `aarch64`. */
  readonly arch: string;
  readonly deno: string;
  readonly pid: number;
  /** The user ID; `undefined` on Windows. */
  readonly uid: number | undefined;
  /** The command line that starts this program again. A compiled program has only its path. */
  readonly program: readonly string[];
}
