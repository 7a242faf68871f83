/** A program to run and wait for. */
export interface Run {
  readonly command: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** SIGKILL is sent after this time. */
  readonly timeoutMilliseconds?: number;
}

/** How a program ended. */
export interface RunResult {
  /** The exit code; 128 + signal number if a signal ended it; 127 if the program does not exist. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** A long-running program to start. */
export interface Spawn {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Standard error; by default the standard error of this process. */
  readonly errorOutput?: "inherit" | "piped";
}

/** Signals that a child process is sent. */
export type ChildSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How a child process ended. */
export interface ChildEnd {
  /** The exit code; 128 + signal number if a signal ended it. */
  readonly code: number;
  /** The signal that ended it. */
  readonly signal: string | undefined;
}

/** A child process. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended and is reaped. */
  readonly ended: Promise<ChildEnd>;
  /** Standard error, if piped. It must be read: the program blocks on a full pipe. */
  readonly errorOutput: ReadableStream<Uint8Array> | undefined;
  /** Sends a signal to its process group; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** A child process that takes the place of this process. */
export interface AttachedChild {
  readonly ended: Promise<ChildEnd>;
  /** Sends a signal to the process only; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** Other processes. */
export interface Processes {
  /** Runs a program and waits. A program that does not exist is the result 127, not an error. */
  run(run: Run): Promise<RunResult>;
  /**
   * Starts a program in a new session and process group, without input and with an empty signal mask. Throws `MeshError`
   * if it does not exist or is not executable.
   */
  spawn(spawn: Spawn): Child;
  /**
   * Starts a program with the standard streams, session, process group and terminal of this process. Throws `SystemError`
   * if it does not exist (ENOENT) or is not executable (EACCES).
   */
  attach(command: string, args: readonly string[]): AttachedChild;
  /** Whether this process waits for the child with this PID: only orphans may be reaped by others. */
  isAwaited(pid: number): boolean;
}
