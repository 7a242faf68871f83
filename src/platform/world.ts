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
 * The process as one object. Commands get it passed in and use nothing else of the machine, so that a test runs a whole
 * command against one in memory and sees what it printed and did.
 */
export interface World {
  /** The name that the program was started with (argv[0]), without folder and `.exe`. */
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
  /** Linux only: each call throws `SystemError` elsewhere. */
  readonly system: SystemCalls;
  readonly permissions: Permissions;
  readonly machine: Machine;
}

/** Environment variables. */
export interface Environment {
  get(name: string): string | undefined;
  /** All of them, as a copy. */
  all(): Record<string, string>;
}

/** An input stream. */
export interface Input {
  readonly isTerminal: boolean;
  chunks(): AsyncIterable<Uint8Array>;
}

/** An output stream. `write` returns when all is written, and throws `ClosedPipeError` after the reader closed it. */
export interface Output {
  readonly isTerminal: boolean;
  /** The terminal's; `undefined` without one. */
  readonly columns: number | undefined;
  /** The terminal's; `undefined` without one. */
  readonly rows: number | undefined;
  write(chunk: string | Uint8Array): void;
}

/** Time. */
export interface Clock {
  now(): Date;
  /** Milliseconds from an arbitrary start; never decreases. */
  monotonic(): number;
  /** Waits; the signal ends the wait early, without an error. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** Signals that this process can handle. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGQUIT" | "SIGUSR1" | "SIGUSR2" | "SIGCHLD";

/** Signals of the operating system. */
export interface Signals {
  /** Calls the handler instead of the default action until the returned function is called. */
  on(signal: SignalName, handler: () => void): () => void;
}

/** Names of the permissions that Deno knows. */
export type PermissionName = "read" | "write" | "net" | "run" | "env" | "sys" | "ffi" | "import";

/** The permissions of this process. */
export interface Permissions {
  /** Gives up all other permissions, for good. */
  keepOnly(names: readonly PermissionName[]): void;
}

/** The machine that the program runs on. */
export interface Machine {
  readonly os: "linux" | "darwin" | "windows" | "other";
  /** Rust's name: `x86_64`, `aarch64`. */
  readonly arch: string;
  /** The version of Deno. */
  readonly deno: string;
  readonly pid: number;
  /** `undefined` on Windows. */
  readonly uid: number | undefined;
  /** The command line that starts this program again; one path if it is compiled. */
  readonly program: readonly string[];
}
