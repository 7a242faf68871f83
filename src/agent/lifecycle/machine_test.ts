import assert from "node:assert/strict";
import { begin, next } from "./machine.ts";
import { DEFAULT_RESTART, type Rules } from "./rules.ts";
import type { Action, EventName, Events, Phase, State, Step } from "./state.ts";
import type { EnvoyEnd } from "../envoy/end.ts";

const RULES: Rules = {
  hotRestart: true,
  restart: DEFAULT_RESTART,
  drain: { duration: 5000, exitOnZero: false, minimum: 5000, maximum: 60_000 },
  grace: 2000,
};
const ON_FAILURE: Rules = { ...RULES, restart: { ...DEFAULT_RESTART, policy: "on-failure" } };
const ON_ZERO: Rules = { ...RULES, drain: { ...RULES.drain, exitOnZero: true } };

/** An event: what `next` takes after the state. */
type Event = { readonly [Name in EventName]: readonly [Name, Events[Name]] }[EventName];

const prepared = (epoch = 0): Event => ["prepared", { epoch }];
const notStarted = (epoch = 0): Event => ["notStarted", { epoch, error: new Error("no disk") }];
const live = (epoch = 0): Event => ["live", { epoch }];
const exited = (epoch = 0, end: Partial<EnvoyEnd> = {}): Event => {
  return ["exited", { epoch, end: { code: 1, signal: undefined, outOfMemory: false, ...end } }];
};
const stop: Event = ["stop", { by: "SIGTERM" }];
const quit: Event = ["quit", { by: "SIGQUIT" }];
const drain: Event = ["drain", { by: "POST /drain" }];
const reload: Event = ["reload", { by: "SIGHUP" }];
const reopenLogs: Event = ["reopenLogs", { by: "SIGUSR1" }];
const timeUp = (timer: Events["timeUp"]["timer"]): Event => ["timeUp", { timer }];
const counted = (count: number | undefined): Event => ["counted", { count }];

function take(rules: Rules, state: State, [name, event]: Event): Step {
  return next(rules, state, name, event);
}

/** The step that the last of these events leads to, from the start on. */
function after(rules: Rules, ...events: readonly Event[]): Step {
  return events.reduce((step, event) => take(rules, step.state, event), begin(true));
}

const STARTED = [prepared()];
const RUNNING = [...STARTED, live()];
const RELOADING = [...RUNNING, reload, prepared(1)];
const DRAINING = [...RUNNING, stop];

/** What leads to each phase. */
const PATHS: Readonly<Record<Phase, readonly Event[]>> = {
  idle: [],
  starting: STARTED,
  running: RUNNING,
  reloading: RELOADING,
  drained: [...RUNNING, drain],
  backoff: [...RUNNING, exited()],
  draining: DRAINING,
  terminating: [...DRAINING, stop],
  killing: [...DRAINING, stop, timeUp("grace")],
  ended: [...DRAINING, exited()],
};

function stateIn(phase: Phase): State {
  const state = phase === "idle"
    ? begin(false).state
    : after(phase === "backoff" ? ON_FAILURE : RULES, ...PATHS[phase]).state;
  assert.equal(state.phase, phase);
  return state;
}

/** Everything that can happen, with the epoch that the phase waits for. */
const HAPPENINGS: Readonly<Record<string, (awaited: number) => Event>> = {
  prepared,
  notStarted,
  live,
  exited: () => exited(),
  stop: () => stop,
  quit: () => quit,
  drain: () => drain,
  reload: () => reload,
  reopenLogs: () => reopenLogs,
  drainTime: () => timeUp("drain"),
  minimumTime: () => timeUp("minimum"),
  graceTime: () => timeUp("grace"),
  olderTime: () => timeUp("older"),
  backoffTime: () => timeUp("backoff"),
  stableTime: () => timeUp("stable"),
  none: () => counted(0),
  some: () => counted(3),
  unknown: () => counted(undefined),
  untold: () => counted(-1),
};

/** The whole machine: what each phase makes of each event. An event that is not here changes nothing and does nothing. */
const TRANSITIONS: Readonly<Record<Phase, Readonly<Record<string, string>>>> = {
  idle: { stop: "ended: end 0", quit: "ended: end 0" },
  starting: {
    prepared: "starting: start 0",
    notStarted: "ended: fail no disk",
    live: "running",
    exited: "ended: end 1",
    stop: "terminating: SIGTERM to 0, grace 2000",
    quit: "terminating: SIGTERM to 0, grace 2000",
    reload: "starting",
    reopenLogs: "starting",
  },
  running: {
    exited: "ended: end 1",
    stop: "draining: drain and close, drain 5000",
    quit: "terminating: SIGTERM to 0, grace 2000",
    drain: "drained: drain",
    reload: "reloading: prepare 1",
    reopenLogs: "running: SIGUSR1 to 0",
  },
  reloading: {
    prepared: "reloading: start 1",
    notStarted: "running",
    live: "running",
    exited: "starting",
    stop: "draining: drain and close, drain 5000",
    quit: "terminating: SIGTERM to 1, grace 2000",
    drain: "drained: drain",
    reload: "reloading",
    reopenLogs: "reloading: SIGUSR1 to 0",
  },
  drained: {
    exited: "ended: end 1",
    stop: "draining: drain 5000, count requests 0",
    quit: "terminating: SIGTERM to 0, grace 2000",
    reopenLogs: "drained: SIGUSR1 to 0",
  },
  backoff: {
    backoffTime: "starting: prepare 0",
    reload: "starting: prepare 0",
    stop: "ended: end 0",
    quit: "ended: end 0",
  },
  draining: {
    exited: "ended: end 0",
    stop: "terminating: SIGTERM to 0, grace 2000",
    quit: "terminating: SIGTERM to 0, grace 2000",
    reopenLogs: "draining: SIGUSR1 to 0",
    drainTime: "terminating: SIGTERM to 0, grace 2000",
    minimumTime: "draining: count connections 0",
    none: "terminating: SIGTERM to 0, grace 2000",
    some: "draining: count connections 1000",
    unknown: "draining: count connections 1000",
    untold: "terminating: SIGTERM to 0, grace 2000",
  },
  terminating: {
    exited: "ended: end 0",
    stop: "killing: SIGKILL to 0",
    quit: "killing: SIGKILL to 0",
    olderTime: "terminating: SIGTERM to 0",
    graceTime: "killing: SIGKILL to 0",
  },
  killing: { exited: "ended: end 0" },
  ended: {},
};

/** A step in short: the phase and what is done but for what is said. */
function textOf({ state, actions }: Step): string {
  const done = actions.map(actionText).filter((text) => text !== "").join(", ");
  return done === "" ? state.phase : `${state.phase}: ${done}`;
}

function actionText(action: Action): string {
  switch (action.do) {
    case "log":
      return "";
    case "drainListeners":
      return action.keepOpen ? "drain" : "drain and close";
    case "signal":
      return `${action.name} to ${action.epochs.join(" and ")}`;
    case "timer":
      return `${action.timer} ${action.milliseconds}`;
    case "count":
      return `count ${action.what} ${action.afterMilliseconds}`;
    case "fail":
      return `fail ${action.error.message}`;
    case "end":
      return `end ${action.code}`;
    default:
      return `${action.do} ${action.epoch}`;
  }
}

function phases(): readonly Phase[] {
  return [
    "idle",
    "starting",
    "running",
    "reloading",
    "drained",
    "backoff",
    "draining",
    "terminating",
    "killing",
    "ended",
  ];
}

for (const phase of phases()) {
  Deno.test(`transitions of the phase ${phase}`, () => {
    const state = stateIn(phase);
    const actual = Object.entries(HAPPENINGS).flatMap(([name, event]) => {
      // In this phase the arguments of an epoch come before it is started.
      const from = name === "prepared" || name === "notStarted" ? beforePrepared(state) : state;
      const step = take(RULES, from, event(phase === "reloading" ? 1 : 0));
      const text = textOf(step);
      return text === phase && JSON.stringify(step.state) === JSON.stringify(from) ? [] : [[name, text]];
    });
    assert.deepEqual(Object.fromEntries(actual), TRANSITIONS[phase]);
  });
}

function beforePrepared(state: State): State {
  return state.awaited === undefined ? state : { ...state, epochs: state.epochs.filter((each) => each.live) };
}

/** What the last of these events does, in short. */
function last(rules: Rules, ...events: readonly Event[]): string {
  return textOf(after(rules, ...events));
}

Deno.test("Envoy's own exit code is the agent's, unless the end was requested", () => {
  const end = (code: number) => exited(0, { code });
  for (const code of [0, 1, 42, 137, 255]) {
    assert.equal(last(RULES, ...RUNNING, end(code)), `ended: end ${code}`);
    assert.equal(last(RULES, ...RUNNING, drain, end(code)), `ended: end ${code}`);
    assert.equal(last(RULES, ...RUNNING, stop, end(code)), "ended: end 0");
    assert.equal(last(RULES, ...RUNNING, quit, end(code)), "ended: end 0");
    assert.equal(last(RULES, ...RUNNING, stop, stop, stop, end(code)), "ended: end 0");
  }
});

Deno.test("a signal to a proxy that was never ready gives the exit code, whatever Envoy's code is", () => {
  const stopUnready: Event = ["stop", { by: "SIGTERM", code: 143 }];
  assert.equal(last(RULES, stopUnready), "ended: end 143");
  assert.equal(last(RULES, ...STARTED, stopUnready, exited(0, { code: 0 })), "ended: end 143");
  assert.equal(last(RULES, ...RUNNING, stopUnready, stop, exited(0, { code: 0 })), "ended: end 143");
  assert.equal(last(ON_FAILURE, ...RUNNING, exited(), stopUnready), "ended: end 143");
  assert.equal(textOf(take(RULES, begin(false).state, stopUnready)), "ended: end 143");
  assert.equal(last(RULES, ...STARTED, quit, exited(0, { code: 0 })), "ended: end 0");
});

Deno.test("a shutdown before Envoy runs is immediate, and the prepared epoch is not started", () => {
  assert.equal(last(RULES, stop), "ended: end 0");
  assert.equal(last(RULES, quit), "ended: end 0");
  assert.equal(last(RULES, stop, prepared()), "ended");
});

Deno.test("the log names memory as the cause, certain or possible", () => {
  const said = (end: Partial<EnvoyEnd>) =>
    textsOf(after(RULES, ...RUNNING, exited(0, { code: 137, signal: "SIGKILL", ...end })));
  assert.match(
    said({ outOfMemory: true }),
    /epoch 0\) was killed by the kernel \(out of memory\).*resources\.limits\.memory/,
  );
  assert.match(said({}), /was terminated by SIGKILL \(exit code 137\).*may have run out of memory/);
  assert.equal(said({ code: 139, signal: "SIGSEGV" }), "Envoy (epoch 0) was terminated by SIGSEGV (exit code 139)");
});

function textsOf({ actions }: Step): string {
  return actions.flatMap((action) => action.do === "log" ? [action.text] : []).join("; ");
}

Deno.test("a drain of zero is skipped", () => {
  const none: Rules = { ...RULES, drain: { ...RULES.drain, duration: 0 } };
  assert.equal(last(none, ...RUNNING, stop), "terminating: SIGTERM to 0, grace 2000");
  assert.equal(last(none, ...RUNNING, drain, stop), "terminating: SIGTERM to 0, grace 2000");
});

Deno.test("a drain until no connection is left has a minimum and a maximum", () => {
  assert.equal(last(ON_ZERO, ...RUNNING, stop), "draining: drain and close, drain 60000, minimum 5000");
  const counting = [...RUNNING, stop, timeUp("minimum")];
  assert.equal(last(ON_ZERO, ...counting), "draining: count connections 0");
  assert.equal(last(ON_ZERO, ...counting, counted(2)), "draining: count connections 1000");
  assert.equal(last(ON_ZERO, ...counting, counted(2), counted(0)), "terminating: SIGTERM to 0, grace 2000");
  assert.equal(last(ON_ZERO, ...counting, counted(2), timeUp("drain")), "terminating: SIGTERM to 0, grace 2000");
  assert.equal(last(ON_ZERO, ...RUNNING, drain, stop), "draining: drain 60000, count requests 0");
});

Deno.test("five consecutive failed counts end the drain; a success resets them", () => {
  const fails = (count: number) => Array<Event>(count).fill(counted(undefined));
  const counting = [...RUNNING, stop, timeUp("minimum")];
  assert.equal(last(ON_ZERO, ...counting, ...fails(4)), "draining: count connections 1000");
  assert.equal(last(ON_ZERO, ...counting, ...fails(5)), "terminating: SIGTERM to 0, grace 2000");
  assert.equal(last(ON_ZERO, ...counting, ...fails(4), counted(1), ...fails(4)), "draining: count connections 1000");
});

Deno.test("restarts wait 200 ms, doubled each time, ten times at most", () => {
  let step = after(ON_FAILURE, ...RUNNING);
  const delays: string[] = [];
  for (let left = 10; left > 0; left--) {
    step = take(ON_FAILURE, step.state, exited(0, { code: 3 }));
    delays.push(textOf(step).replace("backoff: backoff ", ""));
    step = [timeUp("backoff"), prepared()].reduce((each, event) => take(ON_FAILURE, each.state, event), step);
    assert.equal(textOf(step), "starting: start 0");
  }
  assert.deepEqual(delays, ["200", "400", "800", "1600", "3200", "6400", "12800", "25600", "51200", "102400"]);
  const end = take(ON_FAILURE, step.state, exited(0, { code: 3 }));
  assert.equal(textOf(end), "ended: end 3");
  assert.match(textsOf(end), /has failed 11 consecutive times/);
});

Deno.test("a restart that fails to start is retried, the first start is not", () => {
  assert.equal(last(ON_FAILURE, notStarted()), "ended: fail no disk");
  const failed = [...RUNNING, exited(), timeUp("backoff"), notStarted()];
  assert.equal(last(ON_FAILURE, ...failed), "backoff: backoff 400");
  const nine = Array.from({ length: 9 }, () => [timeUp("backoff"), notStarted()]).flat();
  assert.equal(last(ON_FAILURE, ...failed, ...nine), "ended: fail no disk");
});

Deno.test("a stable Envoy resets the budget; one that exits with 0 is not restarted", () => {
  const again = [exited(), timeUp("backoff"), prepared(), live()];
  assert.equal(last(ON_FAILURE, ...RUNNING, ...again), "running: stable 300000");
  assert.equal(last(ON_FAILURE, ...RUNNING, ...again, exited()), "backoff: backoff 400");
  assert.equal(last(ON_FAILURE, ...RUNNING, ...again, timeUp("stable"), exited()), "backoff: backoff 200");
  assert.equal(last(ON_FAILURE, ...RUNNING, exited(0, { code: 0 })), "ended: end 0");
  assert.equal(last(ON_FAILURE, ...RUNNING, drain, exited()), "ended: end 1");
});

Deno.test("a hot restart waits until the parent of the current epoch has exited", () => {
  const two = [...RELOADING, live(1)];
  assert.equal(last(RULES, ...two), "running");
  assert.equal(last(RULES, ...two, reload), "running");
  assert.equal(last(RULES, ...two, reload, exited(0, { code: 0 })), "reloading: prepare 2");
  assert.equal(last(RULES, ...two, exited(0, { code: 0 })), "running");
  assert.equal(last(RULES, ...RELOADING, reload, live(1)), "running");
  assert.equal(last(RULES, ...RELOADING, reload, live(1), exited(0, { code: 0 })), "reloading: prepare 2");
  assert.equal(last(RULES, ...STARTED, reload, live()), "reloading: prepare 1");
});

Deno.test("an epoch that is not started leaves the old epoch, and the next epoch reuses the number", () => {
  assert.equal(last(RULES, ...RUNNING, reload, notStarted(1)), "running");
  assert.equal(last(RULES, ...RUNNING, reload, notStarted(1), reload), "reloading: prepare 1");
  assert.equal(last(RULES, ...RUNNING, reload, reload, notStarted(1)), "reloading: prepare 1");
  const { state } = after(RULES, ...RELOADING, notStarted(1));
  assert.deepEqual(state.epochs, [{ number: 0, live: true }]);
});

Deno.test("an epoch that fails before it is live leaves the old epoch, and disables hot restarts", () => {
  const failed = [...RELOADING, exited(1)];
  assert.equal(last(RULES, ...failed), "running");
  assert.equal(last(RULES, ...failed, reload), "running");
  assert.match(textsOf(after(RULES, ...failed, reload)), /Hot restarts are no longer possible/);
  assert.equal(last(RULES, ...failed, exited()), "ended: end 1");
  assert.equal(last(RULES, ...RELOADING, drain, exited(1)), "drained");
  // A start from nothing makes new memory, which is shared with nobody.
  const again = [exited(), timeUp("backoff"), prepared(), live()];
  assert.equal(last(ON_FAILURE, ...failed, ...again, reload), "reloading: prepare 1");
});

Deno.test("if the newest epoch exits unasked, the older one is killed", () => {
  const dead = [...RELOADING, live(1), exited(1, { code: 139 })];
  assert.equal(last(RULES, ...dead), "killing: SIGKILL to 0");
  assert.equal(last(RULES, ...dead, exited(0, { code: 137 })), "ended: end 139");
  assert.equal(last(ON_FAILURE, ...dead, exited(0, { code: 137 })), "backoff: backoff 200");
  assert.equal(last(ON_FAILURE, ...dead, stop, exited(0, { code: 137 })), "ended: end 0");
});

Deno.test("if the old epoch fails while the new one starts, the new one continues alone", () => {
  assert.equal(last(RULES, ...RELOADING, exited(0)), "starting");
  assert.equal(last(RULES, ...RELOADING, exited(0), live(1)), "running");
  assert.equal(last(RULES, ...RELOADING, exited(0), exited(1, { code: 7 })), "ended: end 7");
  assert.equal(last(RULES, ...RUNNING, reload, exited(0, { code: 7 })), "ended: end 7");
  assert.equal(last(ON_FAILURE, ...RUNNING, reload, exited(0), timeUp("backoff"), prepared(1)), "starting");
});

Deno.test("a requested end waits for every epoch", () => {
  const ending = [...RELOADING, live(1), stop, timeUp("drain")];
  assert.equal(last(RULES, ...ending), "terminating: SIGTERM to 1, grace 2000");
  assert.equal(last(RULES, ...ending, exited(0)), "terminating");
  assert.equal(last(RULES, ...ending, exited(0), exited(1)), "ended: end 0");
  // The newest is asked to end before the others: it asks them to end, and tries long if they are gone.
  assert.equal(last(RULES, ...ending, exited(1)), "terminating: older 1000");
  assert.equal(last(RULES, ...ending, exited(1), timeUp("older")), "terminating: SIGTERM to 0");
  assert.equal(last(RULES, ...ending, exited(1), exited(0)), "ended: end 0");
  assert.equal(last(RULES, ...ending, timeUp("grace")), "killing: SIGKILL to 0 and 1");
  assert.equal(last(RULES, ...RELOADING, stop, prepared(1)), "draining");
});

Deno.test("SIGUSR1 is sent only to a live Envoy, because the signal would kill a starting Envoy", () => {
  assert.equal(last(RULES, ...STARTED, reopenLogs), "starting");
  assert.equal(last(RULES, ...STARTED, reopenLogs, live()), "running: SIGUSR1 to 0");
  assert.equal(last(RULES, ...STARTED, reopenLogs, live(), reload, prepared(1), live(1)), "running");
  assert.equal(last(RULES, ...RELOADING, reopenLogs), "reloading: SIGUSR1 to 0");
  assert.equal(last(RULES, ...RELOADING, reopenLogs, live(1)), "running: SIGUSR1 to 1");
});

Deno.test("a new epoch that becomes live after the drain drains too", () => {
  assert.equal(last(RULES, ...RELOADING, drain, live(1)), "drained: drain");
  assert.equal(last(RULES, ...RELOADING, drain, live(1), exited(0, { code: 0 })), "drained");
});

Deno.test("without hot restarts a reload is refused, but a backoff ends at once", () => {
  const cold: Rules = { ...ON_FAILURE, hotRestart: false };
  for (const path of [STARTED, RUNNING]) {
    const step = after(cold, ...path, reload, live());
    assert.equal(step.state.phase, "running");
    assert.equal(step.state.reloadPending, false);
  }
  assert.match(textsOf(after(cold, ...RUNNING, reload)), /SIGHUP is ignored: hot restarts are disabled/);
  assert.equal(last(cold, ...RUNNING, exited(), reload), "starting: prepare 0");
});
