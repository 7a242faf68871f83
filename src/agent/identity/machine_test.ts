import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { begin, next, REQUEST_TIMEOUT } from "./machine.ts";
import type { Action, Events, Failure, Moment, State, Step } from "./state.ts";
import { MAX_SLEEP } from "./schedule.ts";

const RENEWAL = { ratio: 0.5, jitter: 0.01 };
const DAY = 86_400_000;
const START = 1_800_000_000_000;
const BROKEN: Failure = { text: "connection: refused", isTransient: true };
const REFUSED: Failure = { text: "token: refused", isTransient: false };

type Event = { readonly [Name in keyof Events]: readonly [Name, Events[Name]] }[keyof Events];

/** So many milliseconds after the start, chance being in the middle. */
function at(elapsed: number): Moment {
  return { now: START + elapsed, elapsed, random: 0.5 };
}
const answered = (elapsed: number, lifetime = DAY): Event => {
  return ["answered", { ...at(elapsed), notBefore: START + elapsed - 120_000, notAfter: START + elapsed + lifetime }];
};
const failed = (elapsed: number, failure = BROKEN): Event => ["failed", { ...at(elapsed), failure }];
const timeUp = (elapsed: number): Event => ["timeUp", at(elapsed)];
const stored = (elapsed: number, problem?: string): Event => ["stored", { ...at(elapsed), problem }];
const close: Event = ["close", at(0)];

function take(state: State, [name, event]: Event): Step {
  return next(RENEWAL, state, name, event);
}

/** The step that the last of these events leads to, from the start on. */
function after(...events: readonly Event[]): Step {
  return events.reduce((step, event) => take(step.state, event), begin());
}

const timer = (milliseconds: number): Action => ({ do: "timer", milliseconds });
const ask: readonly Action[] = [{ do: "request" }, timer(REQUEST_TIMEOUT)];
const say = (text: string): Action => ({ do: "log", level: "warning", text });

/** What leads where, and what is done then. */
const CASES: readonly (readonly [string, readonly Event[], State["phase"], readonly Action[]])[] = [
  ["the start asks", [], "requesting", ask],
  ["an answer is kept for half of its time, with a look at the clock every second", [answered(1)], "held", [
    timer(MAX_SLEEP),
    {
      do: "write",
    },
  ]],
  ["one of a second is renewed after half of it", [answered(1, 1000)], "held", [timer(500), { do: "write" }]],
  ["what is not due is slept over again", [answered(0), timeUp(MAX_SLEEP)], "held", [timer(MAX_SLEEP)]],
  ["the last sleep ends when it is due", [answered(0), timeUp(DAY / 2 - 400)], "held", [timer(400)]],
  ["half of its time is over", [answered(0), timeUp(DAY / 2)], "requesting", ask],
  ["a failure is logged and waited for", [failed(5)], "waiting", [say(BROKEN.text), timer(100)]],
  ["the same failure is logged once", [failed(5), timeUp(105), failed(110)], "waiting", [timer(200)]],
  ["another failure is logged", [failed(5), timeUp(105), failed(110, REFUSED)], "waiting", [
    say(REFUSED.text),
    timer(500),
  ]],
  ["a pause ends with another try", [failed(5), timeUp(105)], "requesting", ask],
  ["a CA that does not answer is given up", [timeUp(REQUEST_TIMEOUT)], "waiting", [
    { do: "abort" },
    say("connection: the CA has not answered within 20 s"),
    timer(500),
  ]],
  ["files that were written change nothing", [answered(0), stored(10)], "held", []],
  ["files that were not written are logged", [answered(0), stored(10, "disk full")], "held", [say("disk full")]],
  ["they are written at the next look", [answered(0), stored(10, "disk full"), timeUp(1000)], "held", [
    timer(MAX_SLEEP),
    { do: "write" },
  ]],
  ["the same problem of files is logged once", [answered(0), stored(10, "full"), stored(5010, "full")], "held", []],
  ["a renewal does not wait for files", [answered(0, 20_000), stored(10, "full"), timeUp(10_000)], "requesting", ask],
  ["files may be done while it is asked", [answered(0, 20_000), timeUp(10_000), stored(10_001)], "requesting", []],
  ["an end while it is asked", [close], "closed", [{ do: "abort" }, { do: "clearTimer" }]],
  ["an end of a pause", [failed(5), close], "closed", [{ do: "abort" }, { do: "clearTimer" }]],
  ["an end of a certificate", [answered(0), close], "closed", [{ do: "abort" }, { do: "clearTimer" }]],
  ["after the end nothing happens", [close, answered(1), failed(2), timeUp(3), stored(4)], "closed", []],
  ["an answer that nobody waits for is none", [failed(1), answered(2)], "waiting", []],
];

for (const [name, events, phase, actions] of CASES) {
  Deno.test(`identity: ${name}`, () => {
    const step = after(...events);
    assert.equal(step.state.phase, phase);
    assert.deepEqual(step.actions, actions);
  });
}

/** The pauses of failures in a row, from the start or a certificate on, until they reach this time. */
function pauses(failure: Failure, first: readonly Event[], until: number): number[] {
  const found: number[] = [];
  let { state } = after(...first);
  for (let elapsed = first.length === 0 ? 0 : DAY / 2; elapsed < until;) {
    const step = take(state, failed(elapsed, failure));
    const action = step.actions.find((each) => each.do === "timer");
    assert(action?.do === "timer");
    found.push(action.milliseconds);
    elapsed += action.milliseconds;
    state = take(step.state, timeUp(elapsed)).state;
    assert.equal(state.phase, "requesting");
  }
  return found;
}

Deno.test("identity: delays grow to a minute, without end", () => {
  const found = pauses(REFUSED, [], 3_600_000);
  assert.deepEqual(found.slice(0, 5), [500, 750, 1125, 1688, 2531]);
  assert.deepEqual(found.slice(-3), [60_000, 60_000, 60_000]);
});

Deno.test("identity: transient errors are retried five times at once", () => {
  assert.deepEqual(pauses(BROKEN, [], 5000).slice(0, 10), [100, 200, 400, 800, 500, 100, 200, 400, 800, 750]);
});

Deno.test("identity: a failed renewal is retried more often before expiry", () => {
  const found = pauses(REFUSED, [answered(0), timeUp(DAY / 2)], DAY);
  assert.equal(Math.max(...found), 60_000);
  assert.deepEqual(found.slice(-2), [1000, 1000]);
  const total = found.reduce((sum, each) => sum + each, 0);
  assert(total >= DAY / 2 && total < DAY / 2 + 1000, `it ended ${total} after the renewal began`);
});

/** What the clock is set to while a certificate is held, and what follows a look at it. */
const SET: readonly (readonly [string, now: number, elapsed: number, State["phase"]])[] = [
  ["forward past half of the time", DAY / 2, 1000, "requesting"],
  ["forward past the end", DAY + 3_600_000, 1000, "requesting"],
  ["forward by a minute", 61_000, 1000, "held"],
  ["back by a minute", -59_000, 1000, "held"],
  ["back to before its start", -3_600_000, 1000, "requesting"],
  ["back by ten days, when it is due", -10 * DAY, DAY / 2, "requesting"],
];

for (const [name, now, elapsed, phase] of SET) {
  Deno.test(`identity: the clock is set ${name}`, () => {
    const { state } = after(answered(0));
    assert.equal(next(RENEWAL, state, "timeUp", { now: START + now, elapsed, random: 0 }).state.phase, phase);
  });
}

Deno.test("identity: a clock that was set back behind the CA's leads to one request", () => {
  const back = (elapsed: number) => ({ now: START - 3_600_000 + elapsed, elapsed, random: 0 });
  let { state } = next(RENEWAL, after(answered(0)).state, "timeUp", back(1000));
  ({ state } = next(RENEWAL, state, "answered", { ...back(1100), notBefore: START - 120_000, notAfter: START + DAY }));
  for (let elapsed = 6100; elapsed < DAY / 2; elapsed += 5000) {
    ({ state } = next(RENEWAL, state, "timeUp", back(elapsed)));
    assert.equal(state.phase, "held");
  }
});

const MOMENT = fc.record({
  now: fc.integer({ min: 0, max: 2 * START }),
  elapsed: fc.nat(DAY * 100),
  random: fc.double({ min: 0, max: 1, noNaN: true }),
});
const TIMES = fc.record({ notBefore: fc.nat(2 * START), notAfter: fc.nat(2 * START) });
const EVENTS: fc.Arbitrary<Event> = fc.oneof(
  fc.tuple(MOMENT, TIMES).map(([moment, times]): Event => ["answered", { ...moment, ...times }]),
  fc.tuple(MOMENT, fc.constantFrom(BROKEN, REFUSED)).map((
    [moment, failure],
  ): Event => ["failed", { ...moment, failure }]),
  MOMENT.map((moment): Event => ["timeUp", moment]),
  fc.tuple(MOMENT, fc.constantFrom(undefined, "full")).map((
    [moment, problem],
  ): Event => ["stored", { ...moment, problem }]),
  fc.record({ weight: fc.nat(20), moment: MOMENT }).map(({ weight, moment }): Event => {
    return weight === 0 ? ["close", moment] : ["timeUp", moment];
  }),
);

Deno.test("identity: for any events and clocks, one timer of at most a minute runs until the end", () => {
  fc.assert(fc.property(fc.array(EVENTS, { maxLength: 40 }), (events) => {
    let { state, actions } = begin();
    for (const event of events) {
      const isTimerLeft = event[0] !== "timeUp" && state.phase !== "closed";
      const before = state.phase;
      ({ state, actions } = take(state, event));
      const timers = actions.flatMap((action) => action.do === "timer" ? [action.milliseconds] : []);
      assert(timers.length === 1 || (timers.length === 0 && (isTimerLeft || state.phase === "closed")));
      assert(timers.every((milliseconds) => milliseconds >= 0 && milliseconds <= 60_000));
      assert.equal(
        actions.some((action) => action.do === "request"),
        before !== "requesting" && state.phase === "requesting",
      );
      assert(state.phase !== "closed" || before === "closed" || actions.some((action) => action.do === "clearTimer"));
    }
  }));
});
