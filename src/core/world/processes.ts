/** A program to run to its end. */
export interface Run {
  readonly command: string;
  readonly args?: readonly string[];
  readonly stdin?: string;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Ends it with SIGKILL when it takes longer. */
  readonly timeoutMilliseconds?: number;
}

/** How a program ended. */
export interface RunResult {
  /** The exit code; 128 + signal number if a signal ended it; 127 if the program is not there. */
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly timedOut: boolean;
}

/** A program to start that lives on. */
export interface Spawn {
  readonly command: string;
  readonly args?: readonly string[];
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>>;
  readonly uid?: number;
  readonly gid?: number;
  /** Where its standard error goes: that of this process unless told. */
  readonly errorOutput?: "inherit" | "piped";
}

/** Signals that a program is sent. */
export type ChildSignal = "SIGTERM" | "SIGKILL" | "SIGINT" | "SIGQUIT" | "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How a program that lived on has ended. */
export interface ChildEnd {
  /** The exit code; 128 + signal number if a signal ended it. */
  readonly code: number;
  /** Name of the signal that ended it. */
  readonly signal: string | undefined;
}

/** A program that was started. */
export interface Child {
  readonly pid: number;
  /** Resolves when it has ended and the system has forgotten it (reaped). */
  readonly ended: Promise<ChildEnd>;
  /** Its standard error, if that is piped: it has to be read, or the program comes to a halt. */
  readonly errorOutput: ReadableStream<Uint8Array> | undefined;
  /** Sends a signal to its process group; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** A program that runs in place of this one, as its child. */
export interface AttachedChild {
  readonly ended: Promise<ChildEnd>;
  /** Sends a signal to it alone; `false` if it has ended. */
  signal(name: ChildSignal): boolean;
}

/** Other programs. */
export interface Processes {
  /** Runs a program to its end. A program that is not there is the result 127, not an error. */
  run(run: Run): Promise<RunResult>;
  /**
   * Starts a program that ends soon; the function waits for its end and gives what `run` gives. This process may stand still
   * while it waits, deaf to signals that have handlers, which spares 3 ms.
   */
  begin(run: Run): () => Promise<RunResult>;
  /**
   * Starts a program in a session and process group of its own, without input, with an empty signal mask. Throws
   * `MeshError` if it is absent or not executable.
   */
  spawn(spawn: Spawn): Child;
  /**
   * Starts a program that has the standard streams, the session, the process group and the terminal of this process.
   * Throws `SystemError` if it is absent (ENOENT) or not executable (EACCES).
   */
  attach(command: string, args: readonly string[]): AttachedChild;
  /** Starts this program once more, with these arguments, to do work for this process. Throws `MeshError` if it cannot. */
  help(args: readonly string[]): Helper;
}

/** This program once more, as a child that does work for it; it is told what through its standard input. */
export interface Helper {
  readonly pid: number;
  /** Sends bytes, in the order of the calls. What it does not take, as it has ended, is lost: `ended` tells. */
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** Ends its input, after what was sent. */
  close(): void;
  /** Ends it at once. */
  kill(): void;
  /** Resolves when it has ended. */
  readonly ended: Promise<ChildEnd>;
}
