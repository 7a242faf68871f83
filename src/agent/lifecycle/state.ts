/** What the lifecycle of Envoy is made of: its state, what happens to it, and what it has done about that. */

/**
 * `idle`: there is no Envoy to run. `starting`: the only Envoy is not live yet. `running`: the newest Envoy is live.
 * `reloading`: an Envoy serves while a newer one is being started. `drained`: a drain was asked for, but no end.
 * `backoff`: Envoy failed and is started again later. `draining`: an end was asked for, Envoy may finish its work.
 * `terminating`: Envoy has got SIGTERM. `killing`: Envoy has got SIGKILL. `ended`: nothing more is done.
 */
export type Phase =
  | "idle"
  | "starting"
  | "running"
  | "reloading"
  | "drained"
  | "backoff"
  | "draining"
  | "terminating"
  | "killing"
  | "ended";

/** An Envoy process. A hot restart numbers them from 0 on. */
export interface Epoch {
  readonly number: number;
  readonly live: boolean;
}

/** What follows when the last Envoy has ended: the end of the agent with a code, or another start of Envoy. */
export type Outcome = { readonly type: "end"; readonly code: number } | { readonly type: "restart" };

/** What is counted while Envoy drains, and how often that failed in a row. */
export interface Counting {
  readonly what: "connections" | "requests";
  readonly errors: number;
}

export interface State {
  readonly phase: Phase;
  /** Those that run, the newest last. */
  readonly epochs: readonly Epoch[];
  /** The epoch that is being started, until it is live. */
  readonly awaited: number | undefined;
  /** Starts in a row that failed. */
  readonly failures: number;
  /** Something to reload came while that was not possible. */
  readonly reloadPending: boolean;
  /** An epoch is to open its log files again, once it is live. */
  readonly reopenPending: boolean;
  /** A new epoch failed while it started: Envoy takes no further one. */
  readonly reloadBroken: boolean;
  readonly counting: Counting;
  readonly outcome: Outcome;
}

/** How an Envoy ended. */
export interface EnvoyEnd {
  /** Exit code; 128 + signal number if a signal ended it. */
  readonly code: number;
  readonly signal: string | undefined;
  /** The kernel killed it because the memory was used up. */
  readonly outOfMemory: boolean;
}

export type TimerName = "drain" | "minimum" | "grace" | "older" | "backoff" | "stable";

/** What can happen, by name, with what is known of it. */
export interface Events {
  /** The configuration of an epoch is written and its arguments are known. */
  prepared: { readonly epoch: number };
  /** An epoch could not be prepared or started. */
  notStarted: { readonly epoch: number; readonly error: Error };
  /** An epoch serves. */
  live: { readonly epoch: number };
  exited: { readonly epoch: number; readonly end: EnvoyEnd };
  /** An orderly end is asked for, by a signal. */
  stop: { readonly by: string };
  /** An end at once is asked for, by a signal or a request. */
  quit: { readonly by: string };
  /** A drain is asked for, and no end. */
  drain: { readonly by: string };
  /** Another epoch with the configuration of now is asked for. */
  reload: { readonly by: string };
  /** Envoy is to open its log files again. */
  reopenLogs: { readonly by: string };
  timeUp: { readonly timer: TimerName };
  /** What was counted; `undefined` if Envoy did not answer, -1 if it does not know. */
  counted: { readonly count: number | undefined };
}

export type EventName = keyof Events;

/** What is to be done. */
export type Action =
  | { readonly do: "prepare"; readonly epoch: number }
  | { readonly do: "start"; readonly epoch: number }
  | { readonly do: "drainListeners"; readonly keepOpen: boolean }
  | { readonly do: "signal"; readonly name: "SIGTERM" | "SIGKILL" | "SIGUSR1"; readonly epochs: readonly number[] }
  | { readonly do: "timer"; readonly timer: TimerName; readonly milliseconds: number }
  | { readonly do: "count"; readonly what: Counting["what"]; readonly afterMilliseconds: number }
  | { readonly do: "say"; readonly level: "debug" | "info" | "warning" | "error"; readonly text: string }
  | { readonly do: "end"; readonly code: number }
  | { readonly do: "fail"; readonly error: Error };

/** The state after an event, and what is to be done. */
export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
}

/** How an Envoy ended, for after its name. */
export function endText({ code, signal, outOfMemory }: EnvoyEnd): string {
  if (outOfMemory) return "was killed by the kernel: out of memory";
  if (signal !== undefined) return `was ended by ${signal} (exit code ${code})`;
  return `ended with exit code ${code}`;
}

/** What may have been the reason for an end that is seen often, and what to do. */
export function failureHint({ signal, outOfMemory }: EnvoyEnd): string | undefined {
  if (outOfMemory) return "Give the container of the proxy more memory (resources.limits.memory)";
  if (signal === "SIGKILL") {
    return "This agent did not kill it: perhaps its memory was used up (kubectl describe pod tells OOMKilled)";
  }
  return undefined;
}
