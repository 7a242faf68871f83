/**
 * Requests and renews the certificate, as a state table: for each phase, what each event leads to. Missing entries
 * change nothing. There is one timer: setting it replaces the last one.
 */
import { dueAt, type Held, isDue, LONGEST_SLEEP, retryDelay, until } from "./schedule.ts";
import type { RenewalOptions } from "./options.ts";

/** When an event happened. */
export interface Moment {
  /** Milliseconds since 1970 by the wall clock, which may be wrong or be set. */
  readonly now: number;
  /** Milliseconds by the monotonic clock. */
  readonly elapsed: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Why there is no new certificate. */
export interface Failure {
  /** Stage, reason and what to do, in one line. */
  readonly text: string;
  /** An immediate retry may help. */
  readonly isTransient: boolean;
}

export type Phase = "asking" | "waiting" | "held" | "closed";

export interface State {
  readonly phase: Phase;
  /** Failed requests since the last long delay. */
  readonly tries: number;
  /** Consecutive rounds of failed requests. */
  readonly rounds: number;
  /** The certificate in force. */
  readonly held: Held | undefined;
  /** Why the last request failed; `undefined` after a success. */
  readonly failure: Failure | undefined;
  /** Why the certificate was not written to files. */
  readonly storeProblem: string | undefined;
}

/** Events and their data. */
export interface Events {
  answered: Moment & { readonly notBefore: number; readonly notAfter: number };
  failed: Moment & { readonly failure: Failure };
  timeUp: Moment;
  stored: Moment & { readonly problem: string | undefined };
  close: Moment;
}

export type Action =
  /** Send a request to the CA. */
  | { readonly do: "ask" }
  /** Abort the request; ignore its response. */
  | { readonly do: "abandon" }
  /** Write the certificate to files. */
  | { readonly do: "store" }
  | { readonly do: "timer"; readonly milliseconds: number }
  | { readonly do: "forgetTimer" }
  | { readonly do: "say"; readonly level: "info" | "warning"; readonly text: string };

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
}

/** Timeout of a request, and the delay before writing files again. */
export const PATIENCE = 20_000;
const STORE_AGAIN = 60_000;

type Handler<Event> = (state: State, event: Event, renewal: RenewalOptions) => Step;
type Row = { readonly [Name in keyof Events]?: Handler<Events[Name]> };

const TABLE: Readonly<Record<Phase, Row>> = {
  asking: { answered: hold, failed: wait, timeUp: giveUp, stored: note, close },
  waiting: { timeUp: ask, stored: note, close },
  held: { timeUp: look, stored, close },
  closed: {},
};

/** The first step. */
export function begin(): Step {
  const nothing = { tries: 0, rounds: 0, held: undefined, failure: undefined, storeProblem: undefined };
  return ask({ phase: "waiting", ...nothing });
}

/** The step that an event leads to. */
export function next<Name extends keyof Events>(
  renewal: RenewalOptions,
  state: State,
  name: Name,
  event: Events[Name],
): Step {
  return TABLE[state.phase][name]?.(state, event, renewal) ?? { state, actions: [] };
}

function ask(state: State): Step {
  return { state: { ...state, phase: "asking" }, actions: [{ do: "ask" }, { do: "timer", milliseconds: PATIENCE }] };
}

function hold(state: State, event: Events["answered"], renewal: RenewalOptions): Step {
  const held = dueAt(event, event, renewal);
  return {
    state: { ...state, phase: "held", tries: 0, rounds: 0, held, failure: undefined },
    actions: [{ do: "timer", milliseconds: until(held, event) }, { do: "store" }],
  };
}

function wait(state: State, event: Events["failed"]): Step {
  const { failure } = event;
  const { milliseconds, tries, rounds } = retryDelay(state, failure.isTransient, event);
  const isNews = failure.text !== state.failure?.text;
  return {
    state: { ...state, phase: "waiting", tries, rounds, failure },
    actions: [
      ...isNews ? [{ do: "say", level: "warning", text: failure.text } as const] : [],
      { do: "timer", milliseconds },
    ],
  };
}

function giveUp(state: State, moment: Events["timeUp"]): Step {
  const failure = { text: `connection: the CA has not answered within ${PATIENCE / 1000} s`, isTransient: false };
  const { state: after, actions } = wait(state, { ...moment, failure });
  return { state: after, actions: [{ do: "abandon" }, ...actions] };
}

function look(state: State, moment: Events["timeUp"]): Step {
  const { held, storeProblem } = state;
  if (held === undefined || isDue(held, moment)) return ask(state);
  const rest = until(held, moment);
  if (storeProblem === undefined) return { state, actions: [{ do: "timer", milliseconds: rest }] };
  return { state, actions: [{ do: "timer", milliseconds: Math.min(rest, STORE_AGAIN) }, { do: "store" }] };
}

function note(state: State, { problem }: Events["stored"]): Step {
  const isNews = problem !== undefined && problem !== state.storeProblem;
  const actions = isNews ? [{ do: "say", level: "warning", text: problem } as const] : [];
  return { state: { ...state, storeProblem: problem }, actions };
}

function stored(state: State, event: Events["stored"]): Step {
  const { state: after, actions } = note(state, event);
  const rest = state.held === undefined ? LONGEST_SLEEP : until(state.held, event);
  const milliseconds = event.problem === undefined ? rest : Math.min(rest, STORE_AGAIN);
  return { state: after, actions: [...actions, { do: "timer", milliseconds }] };
}

function close(state: State): Step {
  return { state: { ...state, phase: "closed" }, actions: [{ do: "abandon" }, { do: "forgetTimer" }] };
}
