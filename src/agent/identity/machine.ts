/**
 * Requests and renews the certificate. The state table lists, for each phase, the result of each event. Other events
 * change nothing. There is only one timer: setting it replaces the previous setting.
 */
import type { RenewalOptions } from "./options.ts";
import { dueAt, isDue, retryDelay, until } from "./schedule.ts";
import type { Events, Phase, State, Step } from "./state.ts";

export const REQUEST_TIMEOUT = 20_000;

type Handler<Event> = (state: State, event: Event, renewal: RenewalOptions) => Step;
type Row = { readonly [Name in keyof Events]?: Handler<Events[Name]> };

const TABLE: Readonly<Record<Phase, Row>> = {
  requesting: { answered: hold, failed: wait, timeUp: timeOut, stored: noteStored, close },
  waiting: { timeUp: request, stored: noteStored, close },
  held: { timeUp: check, stored: noteStored, close },
  closed: {},
};

/** Returns the first step. */
export function begin(): Step {
  const nothing = { tries: 0, rounds: 0, held: undefined, failure: undefined, storeProblem: undefined };
  return request({ phase: "waiting", ...nothing });
}

/** Returns the step that an event causes. */
export function next<Name extends keyof Events>(
  renewal: RenewalOptions,
  state: State,
  name: Name,
  event: Events[Name],
): Step {
  return TABLE[state.phase][name]?.(state, event, renewal) ?? { state, actions: [] };
}

function request(state: State): Step {
  return {
    state: { ...state, phase: "requesting" },
    actions: [{ do: "request" }, { do: "timer", milliseconds: REQUEST_TIMEOUT }],
  };
}

function hold(state: State, event: Events["answered"], renewal: RenewalOptions): Step {
  const held = dueAt(event, event, renewal);
  return {
    state: { ...state, phase: "held", tries: 0, rounds: 0, held, failure: undefined },
    actions: [{ do: "timer", milliseconds: until(held, event) }, { do: "write" }],
  };
}

function wait(state: State, event: Events["failed"]): Step {
  const { failure } = event;
  const { milliseconds, tries, rounds } = retryDelay(state, failure.isTransient, event);
  const isNew = failure.text !== state.failure?.text;
  return {
    state: { ...state, phase: "waiting", tries, rounds, failure },
    actions: [
      ...isNew ? [{ do: "log", level: "warning", text: failure.text } as const] : [],
      { do: "timer", milliseconds },
    ],
  };
}

function timeOut(state: State, moment: Events["timeUp"]): Step {
  const failure = {
    text: `connection: the CA has not answered within ${REQUEST_TIMEOUT / 1000} s`,
    isTransient: false,
  };
  const { state: after, actions } = wait(state, { ...moment, failure });
  return { state: after, actions: [{ do: "abort" }, ...actions] };
}

function check(state: State, moment: Events["timeUp"]): Step {
  const { held, storeProblem } = state;
  if (held === undefined || isDue(held, moment)) return request(state);
  const timer = { do: "timer", milliseconds: until(held, moment) } as const;
  return { state, actions: storeProblem === undefined ? [timer] : [timer, { do: "write" }] };
}

function noteStored(state: State, { problem }: Events["stored"]): Step {
  const isNew = problem !== undefined && problem !== state.storeProblem;
  const actions = isNew ? [{ do: "log", level: "warning", text: problem } as const] : [];
  return { state: { ...state, storeProblem: problem }, actions };
}

function close(state: State): Step {
  return { state: { ...state, phase: "closed" }, actions: [{ do: "abort" }, { do: "clearTimer" }] };
}
