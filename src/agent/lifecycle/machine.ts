/**
 * The lifecycle of Envoy. The state table lists, for each phase, the events and their results. Events that are not
 * listed for a phase are ignored. docs/agent.md shows the same table to users.
 */
import type { Action, Epoch, EventName, Events, Outcome, Phase, State, Step, TimerName } from "./state.ts";
import { endText, type EnvoyEnd, failureHint } from "../envoy/end.ts";
import type { Rules } from "./rules.ts";

/** Returns the first step. Without Envoy (DISABLE_ENVOY), the phase is `idle`. */
export function begin(hasEnvoy: boolean): Step {
  const state: State = {
    phase: hasEnvoy ? "starting" : "idle",
    epochs: [],
    awaited: hasEnvoy ? 0 : undefined,
    failures: 0,
    reloadPending: false,
    reloadBroken: false,
    reopenPending: false,
    counting: { what: "connections", errors: 0 },
    outcome: { type: "end", code: 0 },
  };
  return { state, actions: hasEnvoy ? [{ do: "prepare", epoch: 0 }] : [log("info", "Envoy is disabled")] };
}

/** Returns the step that an event causes. */
export function next<Name extends EventName>(rules: Rules, state: State, name: Name, event: Events[Name]): Step {
  return TABLE[state.phase][name]?.(state, event, rules) ?? stay(state);
}

type Handler<Event> = (state: State, event: Event, rules: Rules) => Step;
type Row = { readonly [Name in EventName]?: Handler<Events[Name]> };

/** Wraps a handler so that it ignores events from an abandoned epoch. */
function ifAwaited<Event extends { readonly epoch: number }>(handler: Handler<Event>): Handler<Event> {
  return (state, event, rules) => event.epoch === state.awaited ? handler(state, event, rules) : stay(state);
}

/** After a requested stop, the agent exits with the code of the request instead of Envoy's code. */
function asked(handler: Handler<Events["stop"]>): Handler<Events["stop"]> {
  return (state, event, rules) => {
    return handler({ ...state, outcome: { type: "end", code: event.code ?? 0 } }, event, rules);
  };
}

const TABLE: Readonly<Record<Phase, Row>> = {
  idle: { stop: asked(endNow), quit: endNow, reload: refuseReload },
  starting: {
    prepared: ifAwaited(start),
    notStarted: ifAwaited(fail),
    live: ifAwaited(becomeLive),
    exited: endedByItself,
    stop: asked(terminate),
    quit: terminate,
    drain: (state, { by }) => stay(state, log("info", `${by}: Envoy is not live yet, nothing to drain`)),
    reload: postponeReload,
    reopenLogs,
  },
  running: {
    exited: exitedWhileServing,
    stop: asked(drainThenEnd),
    quit: terminate,
    drain: drainOnly,
    reload,
    reopenLogs,
    timeUp: forgetFailures,
  },
  reloading: {
    prepared: ifAwaited(start),
    notStarted: ifAwaited(keepOldEpoch),
    live: ifAwaited(becomeLive),
    exited: exitedWhileReloading,
    stop: asked(drainThenEnd),
    quit: terminate,
    drain: drainOnly,
    reload: postponeReload,
    reopenLogs,
    timeUp: forgetFailures,
  },
  drained: {
    live: ifAwaited((state, { epoch }) => stay(withLive(state, epoch), { do: "drainListeners", keepOpen: true })),
    exited: exitedWhileServing,
    stop: asked(finishRequests),
    quit: terminate,
    reload: refuseReload,
    reopenLogs,
  },
  backoff: {
    timeUp: (state, { timer }) => timer === "backoff" ? startAgain(state) : stay(state),
    reload: startAgain,
    stop: asked(endNow),
    quit: endNow,
  },
  draining: { timeUp: drainTimeUp, counted, exited: exitedAfterAsked, stop: skipDrain, quit: skipDrain, reopenLogs },
  terminating: {
    timeUp: (state, { timer }) => TERMINATING_TIMERS[timer]?.(state) ?? stay(state),
    exited: exitedAfterAsked,
    stop: (state, { by }) => kill(state, `${by} repeated: killing Envoy`),
    quit: (state, { by }) => kill(state, `${by} repeated: killing Envoy`),
  },
  killing: {
    exited: exitedAfterAsked,
    stop: asked((state) => stay(state)),
    quit: (state) => stay({ ...state, outcome: { type: "end", code: 0 } }),
  },
  ended: {},
};

function log(level: "debug" | "info" | "warning" | "error", text: string): Action {
  return { do: "log", level, text };
}

function stay(state: State, ...actions: readonly Action[]): Step {
  return { state, actions };
}

/* Starting */

function start(state: State, { epoch }: Events["prepared"]): Step {
  return stay({ ...state, epochs: [...state.epochs, { number: epoch, live: false }] }, { do: "start", epoch });
}

function startAgain(state: State): Step {
  const nothingLeft = { reloadPending: false, reloadBroken: false, reopenPending: false } as const;
  return stay({ ...state, ...nothingLeft, phase: "starting", awaited: 0 }, { do: "prepare", epoch: 0 });
}

/**
 * Handles a failed start. A failure of the first start is fatal. A later start is retried, because the disk may be
 * full, or the program may be in the middle of an update.
 */
function fail(state: State, { epoch, error }: Events["notStarted"], rules: Rules): Step {
  const left = without(state, epoch);
  const ended = stay({ ...left, phase: "ended" }, { do: "fail", error });
  if (state.failures === 0 || state.failures >= rules.restart.budget) return ended;
  return chain(stay(left, log("error", error.message)), (state) => backOff(state, rules));
}

function forgetFailures(state: State, { timer }: Events["timeUp"]): Step {
  return stay(timer === "stable" ? { ...state, failures: 0 } : state);
}

function becomeLive(state: State, { epoch }: Events["live"], rules: Rules): Step {
  const running: State = { ...withLive(state, epoch), phase: "running", reopenPending: false };
  const actions: Action[] = [log("info", `Envoy (epoch ${epoch}) is live`)];
  if (state.reopenPending) actions.push({ do: "signal", name: "SIGUSR1", epochs: [epoch] });
  if (rules.restart.policy !== "never") {
    actions.push({ do: "timer", timer: "stable", milliseconds: rules.restart.stable });
  }
  return chain(stay(running, ...actions), (state) => reloadIfPending(state, rules));
}

function withLive(state: State, epoch: number): State {
  return {
    ...state,
    awaited: undefined,
    epochs: state.epochs.map((each) => each.number === epoch ? { ...each, live: true } : each),
  };
}

function chain(first: Step, more: (state: State) => Step): Step {
  const second = more(first.state);
  return { state: second.state, actions: [...first.actions, ...second.actions] };
}

/* Hot restart */

/**
 * Starts a new epoch, but only when a single epoch is left: a starting epoch makes its parent terminate the
 * grandparent, which may still be draining.
 */
function reload(state: State, { by }: Events["reload"], rules: Rules): Step {
  if (!rules.hotRestart) return refuseReload(state, { by });
  if (state.reloadBroken) return stay(state, log("error", RELOAD_BROKEN));
  if (state.epochs.length > 1) return postponeReload(state, { by }, rules);
  const epoch = (state.epochs.at(-1)?.number ?? 0) + 1;
  return stay(
    { ...state, phase: "reloading", awaited: epoch, reloadPending: false },
    log("info", `${by}: hot restart, starting epoch ${epoch}`),
    { do: "prepare", epoch },
  );
}

const RELOAD_BROKEN =
  "Hot restarts are no longer possible, because an epoch failed during its start; Envoy keeps serving with " +
  "its old configuration: restart the agent to apply the new configuration";

function refuseReload(state: State, { by }: Events["reload"]): Step {
  return stay(state, log("warning", `${by} is ignored: hot restarts are disabled`));
}

function postponeReload(state: State, { by }: Events["reload"], rules: Rules): Step {
  if (!rules.hotRestart) return refuseReload(state, { by });
  return stay({ ...state, reloadPending: true }, log("info", `${by}: hot restart postponed`));
}

function reloadIfPending(state: State, rules: Rules): Step {
  if (!state.reloadPending || state.epochs.length > 1 || state.phase !== "running") return stay(state);
  return reload({ ...state, reloadPending: false }, { by: "The postponed reload" }, rules);
}

/** Keeps the old epoch, which is unaffected: the user can fix the problem and reload again. */
function keepOldEpoch(state: State, { epoch, error }: Events["notStarted"], rules: Rules): Step {
  const text = `Epoch ${epoch} was not started, and Envoy keeps serving with its old configuration: ${error.message}`;
  const old: State = { ...without(state, epoch), awaited: undefined, phase: "running" };
  return chain(stay(old, log("error", text)), (state) => reloadIfPending(state, rules));
}

function exitedWhileReloading(state: State, event: Events["exited"], rules: Rules): Step {
  const left = without(state, event.epoch);
  if (left.epochs.length === 0) return endedByItself(state, event, rules);
  const text = `Envoy (epoch ${event.epoch}) ${endText(event.end)}`;
  return event.epoch === state.awaited
    ? stay(
      { ...giveUpReload(left), phase: "running" },
      log("error", `${text} before it was live`),
      log("error", RELOAD_BROKEN),
    )
    : stay({ ...left, phase: "starting" }, log("error", `${text} before the new epoch was live`));
}

/**
 * Disables hot restarts. Envoy marks a starting epoch in shared memory, and never clears the mark of an epoch that
 * died.
 */
function giveUpReload(state: State): State {
  return { ...state, awaited: undefined, reloadPending: false, reloadBroken: true };
}

/* Ends of Envoy */

function without(state: State, epoch: number): State {
  return { ...state, epochs: state.epochs.filter(({ number }) => number !== epoch) };
}

function exitedWhileServing(state: State, event: Events["exited"], rules: Rules): Step {
  const newestLive = state.epochs.findLast(({ live }) => live) ?? state.epochs.at(-1);
  if (newestLive?.number === event.epoch) return endedByItself(state, event, rules);
  const level = event.end.code === 0 ? "info" : "warning";
  const left = without(event.epoch === state.awaited ? giveUpReload(state) : state, event.epoch);
  const gone = stay(left, log(level, `Envoy (epoch ${event.epoch}) ${endText(event.end)}`));
  return chain(gone, (state) => reloadIfPending(state, rules));
}

/**
 * Handles an unrequested exit of the newest Envoy. Kills older epochs that still drain, because they have no successor.
 */
function endedByItself(state: State, { epoch, end }: Events["exited"], rules: Rules): Step {
  const left = without(state, epoch);
  const { outcome, actions } = afterFailure(state, end, rules);
  const level = end.code === 0 ? "info" : "error";
  const gone = stay({ ...left, outcome }, log(level, `Envoy (epoch ${epoch}) ${endText(end)}`), ...actions);
  return left.epochs.length === 0
    ? chain(gone, (state) => finish(state, rules))
    : chain(gone, (state) => kill(state, "Killing the other Envoy"));
}

function afterFailure(
  { failures, phase }: State,
  end: EnvoyEnd,
  { restart }: Rules,
): { readonly outcome: Outcome; readonly actions: readonly Action[] } {
  const hint = failureHint(end);
  const actions = hint === undefined ? [] : [log("error", hint)];
  if (restart.policy === "never" || end.code === 0 || phase === "drained") {
    return { outcome: { type: "end", code: end.code }, actions };
  }
  if (failures < restart.budget) return { outcome: { type: "restart" }, actions };
  const text = `Envoy has failed ${failures + 1} consecutive times: giving up`;
  return { outcome: { type: "end", code: end.code }, actions: [...actions, log("error", text)] };
}

function finish(state: State, rules: Rules): Step {
  if (state.outcome.type === "restart") return backOff(state, rules);
  return stay({ ...state, phase: "ended" }, { do: "end", code: state.outcome.code });
}

function backOff(state: State, rules: Rules): Step {
  const milliseconds = rules.restart.firstDelay * 2 ** state.failures;
  return stay(
    { ...state, phase: "backoff", failures: state.failures + 1, outcome: { type: "end", code: 0 } },
    log("warning", `Restarting Envoy in ${milliseconds} ms`),
    { do: "timer", timer: "backoff", milliseconds },
  );
}

/**
 * Milliseconds between the exit of an epoch and the agent's SIGTERM to the epoch's parent. An exiting epoch makes its
 * parent exit, and an earlier SIGTERM would interrupt the parent's exit.
 */
const OLDER_MILLISECONDS = 1000;

const TERMINATING_TIMERS: Readonly<Partial<Record<TimerName, (state: State) => Step>>> = {
  grace: (state) => kill(state, "Envoy did not exit in time: killing it"),
  older: (state) => stay(state, signalTo(state.epochs.slice(-1), "SIGTERM")),
};

function exitedAfterAsked(state: State, { epoch, end }: Events["exited"], rules: Rules): Step {
  const gone = stay(without(state, epoch), log("info", `Envoy (epoch ${epoch}) ${endText(end)}`));
  const newest = gone.state.epochs.at(-1);
  if (newest === undefined) return chain(gone, (state) => finish(state, rules));
  if (state.phase !== "terminating" || newest.number > epoch) return gone;
  return chain(gone, (state) => stay(state, { do: "timer", timer: "older", milliseconds: OLDER_MILLISECONDS }));
}

/* Ends that are asked for */

function endNow(state: State, { by }: Events["stop"]): Step {
  const code = state.outcome.type === "end" ? state.outcome.code : 0;
  return stay({ ...state, phase: "ended" }, log("info", `${by}: shutting down`), { do: "end", code });
}

/**
 * Sends SIGTERM, which makes Envoy close connections and write its access log. At first, only the newest epoch gets the
 * signal: an exiting epoch contacts its parent, and retries for ten seconds if the parent is gone.
 */
function terminate(state: State, { by }: Events["stop"], rules: Rules): Step {
  if (state.epochs.length === 0) return endNow(state, { by });
  return stay(
    { ...state, phase: "terminating" },
    log("info", `${by}: sending SIGTERM to Envoy`),
    signalTo(state.epochs.slice(-1), "SIGTERM"),
    { do: "timer", timer: "grace", milliseconds: rules.grace },
  );
}

function skipDrain(state: State, { by }: Events["stop"], rules: Rules): Step {
  return terminate(state, { by: `${by}, again` }, rules);
}

function kill(state: State, text: string): Step {
  return stay({ ...state, phase: "killing" }, log("warning", text), signalTo(state.epochs, "SIGKILL"));
}

function signalTo(epochs: readonly Epoch[], name: "SIGTERM" | "SIGKILL" | "SIGUSR1"): Action {
  return { do: "signal", name, epochs: epochs.map(({ number }) => number) };
}

/** Makes live epochs reopen their logs. A starting Envoy may not handle this signal yet, and would die. */
function reopenLogs(state: State): Step {
  const live = state.epochs.filter(({ live }) => live);
  const reopenPending = state.awaited !== undefined;
  return stay({ ...state, reopenPending }, ...live.length > 0 ? [signalTo(live, "SIGUSR1")] : []);
}

/* Drains */

/** Drains for `/drain`. Envoy still accepts new connections, because other containers still work. */
function drainOnly(state: State, { by }: Events["drain"]): Step {
  return stay(
    { ...state, phase: "drained" },
    log("info", `${by}: draining; Envoy still accepts connections`),
    { do: "drainListeners", keepOpen: true },
  );
}

function drainThenEnd(state: State, { by }: Events["stop"], rules: Rules): Step {
  const { exitOnZero, duration, minimum, maximum } = rules.drain;
  const milliseconds = exitOnZero ? maximum : duration;
  if (milliseconds <= 0) return terminate(state, { by }, rules);
  const text = exitOnZero
    ? `draining until no connection is left, for at least ${minimum} ms and at most ${maximum} ms`
    : `draining for ${duration} ms`;
  const actions: readonly Action[] = [
    log("info", `${by}: ${text}`),
    { do: "drainListeners", keepOpen: false },
    { do: "timer", timer: "drain", milliseconds },
    ...exitOnZero ? [{ do: "timer", timer: "minimum", milliseconds: minimum } as const] : [],
  ];
  return stay({ ...state, phase: "draining", counting: { what: "connections", errors: 0 } }, ...actions);
}

/**
 * Waits for requests in flight, but not longer than the drain time. The listeners have been draining since `/drain`.
 */
function finishRequests(state: State, { by }: Events["stop"], rules: Rules): Step {
  const { exitOnZero, duration, maximum } = rules.drain;
  const milliseconds = exitOnZero ? maximum : duration;
  if (milliseconds <= 0) return terminate(state, { by }, rules);
  return stay(
    { ...state, phase: "draining", counting: { what: "requests", errors: 0 } },
    log("info", `${by}: waiting for requests in flight, at most ${milliseconds} ms`),
    { do: "timer", timer: "drain", milliseconds },
    { do: "count", what: "requests", afterMilliseconds: 0 },
  );
}

function drainTimeUp(state: State, { timer }: Events["timeUp"], rules: Rules): Step {
  if (timer === "minimum") return stay(state, { do: "count", what: state.counting.what, afterMilliseconds: 0 });
  return timer === "drain" ? terminate(state, { by: "The drain time is over" }, rules) : stay(state);
}

/** Maximum number of consecutive failed counts. Source: pilot-agent. */
const MAX_ERRORS = 5;
const COUNT_INTERVAL = { connections: 1000, requests: 200 } as const;

function counted(state: State, { count }: Events["counted"], rules: Rules): Step {
  const { what, errors: before } = state.counting;
  const errors = count === undefined ? before + 1 : 0;
  if (count === 0) return terminate(state, { by: `No ${what} are left` }, rules);
  const problem = count === -1
    ? `Envoy has no statistics for active ${what}, so the drain ends now`
    : errors >= MAX_ERRORS
    ? `Envoy did not answer ${errors} consecutive requests for active ${what}`
    : undefined;
  if (problem !== undefined) {
    return chain(stay(state, log("warning", problem)), (state) => terminate(state, { by: "The drain is over" }, rules));
  }
  return stay(
    { ...state, counting: { what, errors } },
    log("debug", `Envoy has ${count ?? "an unknown number of"} active ${what}`),
    { do: "count", what, afterMilliseconds: COUNT_INTERVAL[what] },
  );
}
