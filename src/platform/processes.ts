/** A program to run and wait for. */
export interface Run {
  readonly command: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Milliseconds after which the program gets SIGKILL. */
  readonly timeoutMilliseconds?: number;
}

export interface RunResult {
  /** The exit code; 128 + signal number if a signal ended the program; 127 if the program does not exist. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** A long-running program to start. */
export interface Spawn extends Pick<Run, "command" | "args" | "env" | "uid" | "gid"> {
  /** Destination of standard error. By default, the standard error of this process. */
  readonly errorOutput?: "inherit" | "piped";
}

/** Signals that this program sends to child processes. */
export type ChildSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";

export interface ChildEnd {
  /** The exit code; 128 + signal number if a signal ended the process. */
  readonly code: number;
  readonly signal: string | undefined;
}

/** A child process with the terminal and standard streams of this process. */
export interface AttachedChild {
  /** Resolves when the process has exited and is reaped. */
  readonly ended: Promise<ChildEnd>;
  /** Sends a signal to the process, or to the process group of a {@link Child}. Returns `false` if the process has exited. */
  signal(name: ChildSignal): boolean;
}

/** A child process in a process group of its own. */
export interface Child extends AttachedChild {
  readonly pid: number;
  /** Standard error, if piped. The caller must read it, because the program blocks on a full pipe. */
  readonly errorOutput: ReadableStream<Uint8Array> | undefined;
}

export interface Processes {
  /**
   * Runs a program and waits until it exits. If the program does not exist, returns exit code 127 and does not throw.
   */
  run(run: Run): Promise<RunResult>;
  /**
   * Starts a program in a new session and process group, without input and with an empty signal mask. Throws `MeshError`
   * if the program is missing or not executable.
   */
  spawn(spawn: Spawn): Child;
  /**
   * Starts a program with the standard streams, session, process group and terminal of this process. Throws `SystemError`
   * if the program is missing (ENOENT) or not executable (EACCES).
   */
  attach(command: string, args: readonly string[]): AttachedChild;
  /**
   * Returns the path of a program in the first absolute folder of PATH that contains it; `undefined` for a missing program. A
   * program of the current folder must never run, so relative folders are skipped. An executable file wins over others.
   */
  find(name: string): string | undefined;
  /** Whether this process waits for the child with this PID. Other code must reap only orphans. */
  isAwaited(pid: number): boolean;
}
