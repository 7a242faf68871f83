/**
 * How a certificate is got and kept, as a table: for each phase, what each event leads to. An event that is not in the row
 * of a phase changes nothing there. There is one timer: setting it forgets the one before.
 */
import { dueAt, type Held, isDue, LONGEST_SLEEP, retryDelay, until } from "./schedule.ts";
import type { RenewalOptions } from "./options.ts";

/** When something happened. */
export interface Moment {
  /** Milliseconds since 1970, by the clock of this machine, which may be wrong and may be set. */
  readonly now: number;
  /** Milliseconds that never go back. */
  readonly elapsed: number;
  /** From 0 to 1. */
  readonly random: number;
}

/** Why there is no new certificate. */
export interface Failure {
  /** One line: the stage, what was wrong, what to do. */
  readonly text: string;
  /** Another try at once may help. */
  readonly isTransient: boolean;
}

export type Phase = "asking" | "waiting" | "held" | "closed";

export interface State {
  readonly phase: Phase;
  /** Tries that failed in a row, since the last pause of some length. */
  readonly tries: number;
  /** How often in a row the tries were given up for some time. */
  readonly rounds: number;
  /** The certificate in force. */
  readonly held: Held | undefined;
  /** Why the last try failed; `undefined` after one that did not. */
  readonly failure: Failure | undefined;
  /** Why the certificate could not be written to files. */
  readonly storeProblem: string | undefined;
}

/** Events, and what is told with them. */
export interface Events {
  answered: Moment & { readonly notBefore: number; readonly notAfter: number };
  failed: Moment & { readonly failure: Failure };
  timeUp: Moment;
  stored: Moment & { readonly problem: string | undefined };
  close: Moment;
}

export type Action =
  /** Asks the authority. */
  | { readonly do: "ask" }
  /** Gives up what was asked: an answer that still comes is none. */
  | { readonly do: "abandon" }
  /** Writes the certificate to files. */
  | { readonly do: "store" }
  | { readonly do: "timer"; readonly milliseconds: number }
  | { readonly do: "forgetTimer" }
  | { readonly do: "say"; readonly level: "info" | "warning"; readonly text: string };

export interface Step {
  readonly state: State;
  readonly actions: readonly Action[];
}

/** How long an answer is waited for, and after what time files that could not be written are tried again. */
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

/** The start. */
export function begin(): Step {
  const nothing = { tries: 0, rounds: 0, held: undefined, failure: undefined, storeProblem: undefined };
  return ask({ phase: "waiting", ...nothing });
}

/** What an event leads to. */
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
