/** State, events and actions of the certificate machine. */

export interface Moment {
  /** Milliseconds since 1970 by the wall clock, which may be wrong or may be changed. */
  readonly now: number;
  /** Milliseconds by the monotonic clock. */
  readonly elapsed: number;
  /** Random number from 0 to 1. */
  readonly random: number;
}

export interface Failure {
  /** The failed stage, the reason and advice, in one line. */
  readonly text: string;
  readonly isTransient: boolean;
}

export type Phase = "requesting" | "waiting" | "held" | "closed";

/** The certificate in force; times in milliseconds since 1970, except `dueElapsed`. */
export interface Held {
  readonly notBefore: number;
  readonly notAfter: number;
  /** Renewal time, by the wall clock and by the monotonic clock. */
  readonly dueAt: number;
  readonly dueElapsed: number;
}

export interface State {
  readonly phase: Phase;
  /** Number of failed requests since the last long delay. */
  readonly tries: number;
  readonly rounds: number;
  readonly held: Held | undefined;
  /** Reason why the last request failed; `undefined` after a success. */
  readonly failure: Failure | undefined;
  readonly storeProblem: string | undefined;
}

export interface Events {
  answered: Moment & { readonly notBefore: number; readonly notAfter: number };
  failed: Moment & { readonly failure: Failure };
  timeUp: Moment;
  stored: Moment & { readonly problem: string | undefined };
  close: Moment;
}

export type Action =
  | { readonly do: "request" }
  /** Abort the request, and ignore its response. */
  | { readonly do: "abort" }
  | { readonly do: "write" }
  | { readonly do: "timer"; readonly milliseconds: number }
  | { readonly do: "clearTimer" }
  | { readonly do: "log"; readonly level: "info" | "warning"; readonly text: string };

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
}
