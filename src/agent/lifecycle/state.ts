/** State, events and actions of Envoy's lifecycle. */
import type { EnvoyEnd } from "../envoy/end.ts";

/**
 * `idle`: the agent runs without Envoy. `starting`: the only Envoy is not live yet. `running`: the newest Envoy is
 * live. `reloading`: an Envoy serves while a newer one starts. `drained`: Envoy drains, but keeps running. `backoff`:
 * Envoy failed, and a restart is scheduled. `draining`: Envoy drains before the shutdown. `terminating`: Envoy got
 * SIGTERM. `killing`: Envoy got SIGKILL. `ended`: the agent is done.
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

/** An Envoy process. Hot restarts number the processes from 0. */
export interface Epoch {
  readonly number: number;
  readonly live: boolean;
}

export type Outcome = { readonly type: "end"; readonly code: number } | { readonly type: "restart" };

export interface Counting {
  readonly what: "connections" | "requests";
  readonly errors: number;
}

export interface State {
  readonly phase: Phase;
  /** Running epochs, with the newest last. */
  readonly epochs: readonly Epoch[];
  /** Number of the starting epoch; `undefined` if no epoch is starting. */
  readonly awaited: number | undefined;
  readonly failures: number;
  readonly reloadPending: boolean;
  /** Whether the starting epoch must reopen its log files when it is live. */
  readonly reopenPending: boolean;
  /** Whether a new epoch has failed during its start, after which Envoy accepts no further epoch. */
  readonly reloadBroken: boolean;
  readonly counting: Counting;
  readonly outcome: Outcome;
}

export type TimerName = "drain" | "minimum" | "grace" | "older" | "backoff" | "stable";

export interface Events {
  prepared: { readonly epoch: number };
  notStarted: { readonly epoch: number; readonly error: Error };
  live: { readonly epoch: number };
  exited: { readonly epoch: number; readonly end: EnvoyEnd };
  /** Requests a graceful shutdown. `code` is the agent's exit code, default 0. */
  stop: { readonly by: string; readonly code?: number };
  quit: { readonly by: string };
  drain: { readonly by: string };
  reload: { readonly by: string };
  reopenLogs: { readonly by: string };
  timeUp: { readonly timer: TimerName };
  /** The count; `undefined` if Envoy did not answer, -1 if Envoy has no such statistics. */
  counted: { readonly count: number | undefined };
}

export type EventName = keyof Events;

export type Action =
  | { readonly do: "prepare"; readonly epoch: number }
  | { readonly do: "start"; readonly epoch: number }
  | { readonly do: "drainListeners"; readonly keepOpen: boolean }
  | { readonly do: "signal"; readonly name: "SIGTERM" | "SIGKILL" | "SIGUSR1"; readonly epochs: readonly number[] }
  | { readonly do: "timer"; readonly timer: TimerName; readonly milliseconds: number }
  | { readonly do: "count"; readonly what: Counting["what"]; readonly afterMilliseconds: number }
  | { readonly do: "log"; readonly level: "debug" | "info" | "warning" | "error"; readonly text: string }
  | { readonly do: "end"; readonly code: number }
  | { readonly do: "fail"; readonly error: Error };

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
}
