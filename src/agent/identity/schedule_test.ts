import assert from "node:assert/strict";
import { fc } from "../../../test/support/properties.ts";
import { dueAt, type Held, isDue, retryDelay, until } from "./schedule.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const RENEWAL = { ratio: 0.5, jitter: 0.01 };

/** A validity from two minutes before now for a lifetime. */
function validity(lifetime = DAY, now = NOW) {
  return { notBefore: new Date(now - 120_000), notAfter: new Date(now + lifetime) };
}

/** Lifetime behind us and before us, ratio and jitter, chance -> milliseconds until the renewal. */
const DUE: readonly (readonly [string, readonly [number, number], readonly [number, number], number, number])[] = [
  ["half of the time that is left", [-120_000, 24 * HOUR], [0.5, 0.01], 0.5, 12 * HOUR],
  ["a bit earlier by chance", [0, 10 * HOUR], [0.5, 0.1], 1, 4 * HOUR],
  ["a bit later by chance", [0, 10 * HOUR], [0.5, 0.1], 0, 6 * HOUR],
  ["when a tenth is left", [0, 10 * HOUR], [0.1, 0], 0.9, 9 * HOUR],
  ["never at once", [0, 10 * HOUR], [1, 0.5], 1, 0.1 * HOUR],
  ["never at its end", [0, 10 * HOUR], [0, 0], 0, 9.9 * HOUR],
  ["a clock that is far ahead does not hurry us", [-24 * HOUR, 10], [0.5, 0], 0, 500],
  ["our clock is two days behind", [48 * HOUR, 72 * HOUR], [0.5, 0], 0, 12 * HOUR],
];

for (const [name, [begin, end], [ratio, jitter], random, expected] of DUE) {
  Deno.test(`dueAt(): ${name}`, () => {
    const moment = { now: NOW, elapsed: 77, random };
    const held = dueAt({ notBefore: new Date(NOW + begin), notAfter: new Date(NOW + end) }, moment, { ratio, jitter });
    assert.deepEqual([held.dueAt - NOW, held.dueElapsed - 77], [expected, expected]);
  });
}

Deno.test("retryDelay() has jitter, and is at most a minute", () => {
  const delay = (tries: number, rounds: number, isTransient: boolean, random: number) => {
    return retryDelay({ tries, rounds, held: undefined }, { isTransient }, { now: NOW, elapsed: 0, random })
      .milliseconds;
  };
  assert.deepEqual([delay(0, 0, true, 0), delay(0, 0, true, 1), delay(3, 0, true, 1)], [90, 110, 880]);
  assert.deepEqual([delay(0, 0, false, 0), delay(0, 0, false, 1)], [250, 750]);
  assert.deepEqual([delay(0, 1000, false, 0), delay(0, 1000, false, 1)], [30_000, 60_000]);
});

/** The pauses of failures in a row, until they reach this time after the first. */
function pauses(isTransient: boolean, limit: number, held?: Held, first = 0): number[] {
  const found: number[] = [];
  let state = { milliseconds: 0, tries: 0, rounds: 0 };
  for (let elapsed = first; elapsed < limit; elapsed += state.milliseconds) {
    state = retryDelay({ ...state, held }, { isTransient }, { now: NOW + elapsed, elapsed, random: 0.5 });
    found.push(state.milliseconds);
  }
  return found;
}

Deno.test("retryDelay(): delays grow to a minute, without end", () => {
  const found = pauses(false, HOUR);
  assert.deepEqual(found.slice(0, 5), [500, 750, 1125, 1688, 2531]);
  assert.deepEqual(found.slice(-3), [60_000, 60_000, 60_000]);
});

Deno.test("retryDelay(): transient errors are retried five times at once", () => {
  assert.deepEqual(pauses(true, 5000).slice(0, 10), [100, 200, 400, 800, 500, 100, 200, 400, 800, 750]);
});

Deno.test("retryDelay(): a failed renewal is retried more often before expiry", () => {
  const held = dueAt(validity(), { now: NOW, elapsed: 0, random: 0.5 }, RENEWAL);
  const found = pauses(false, DAY, held, DAY / 2);
  assert.equal(Math.max(...found), 60_000);
  assert.deepEqual(found.slice(-2), [1000, 1000]);
});

/** What the clock is set to while a certificate is held, and whether it is due then. */
const SET: readonly (readonly [string, now: number, elapsed: number, isDue: boolean])[] = [
  ["not at all", 1000, 1000, false],
  ["not at all, for half of the time", DAY / 2, DAY / 2, true],
  ["forward past half of the time", DAY / 2, 1000, true],
  ["forward past the end", DAY + HOUR, 1000, true],
  ["forward by a minute", 61_000, 1000, false],
  ["back by a minute", -59_000, 1000, false],
  ["back to before its start", -HOUR, 1000, true],
  ["back by ten days, when it is due", -10 * DAY, DAY / 2, true],
];

for (const [name, now, elapsed, expected] of SET) {
  Deno.test(`isDue(): the clock is set ${name}`, () => {
    const held = dueAt(validity(), { now: NOW, elapsed: 0, random: 0.5 }, RENEWAL);
    assert.equal(isDue(held, { now: NOW + now, elapsed, random: 0 }), expected);
  });
}

Deno.test("isDue(): a clock that was set back behind the CA's leads to one renewal", () => {
  const back = (elapsed: number) => ({ now: NOW - HOUR + elapsed, elapsed, random: 0 });
  assert.equal(isDue(dueAt(validity(), { now: NOW, elapsed: 0, random: 0 }, RENEWAL), back(1000)), true);
  const held = dueAt(validity(), back(1100), RENEWAL);
  for (let elapsed = 6100; elapsed < DAY / 2; elapsed += 5000) assert.equal(isDue(held, back(elapsed)), false);
});

Deno.test("until(): for any certificate and clocks, at most a second", () => {
  const moment = fc.record({
    now: fc.integer({ min: 0, max: 2 * NOW }),
    elapsed: fc.nat(100 * DAY),
    random: fc.double({ min: 0, max: 1, noNaN: true }),
  });
  const date = fc.nat(2 * NOW).map((time) => new Date(time));
  fc.assert(fc.property(date, date, moment, moment, (notBefore, notAfter, then, now) => {
    const wait = until(dueAt({ notBefore, notAfter }, then, RENEWAL), now);
    assert.ok(wait >= 0 && wait <= 1000, String(wait));
  }));
});
