import assert from "node:assert/strict";
import { dueAt, retryDelay } from "./schedule.ts";

const NOW = 1_800_000_000_000;
const HOUR = 3_600_000;

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
    const held = dueAt({ notBefore: NOW + begin, notAfter: NOW + end }, moment, { ratio, jitter });
    assert.deepEqual([held.dueAt - NOW, held.dueElapsed - 77], [expected, expected]);
  });
}

Deno.test("retryDelay() has jitter, and is at most a minute", () => {
  const delay = (tries: number, rounds: number, isTransient: boolean, random: number) => {
    return retryDelay({ tries, rounds, held: undefined }, isTransient, { now: NOW, elapsed: 0, random }).milliseconds;
  };
  assert.deepEqual([delay(0, 0, true, 0), delay(0, 0, true, 1), delay(3, 0, true, 1)], [90, 110, 880]);
  assert.deepEqual([delay(0, 0, false, 0), delay(0, 0, false, 1)], [250, 750]);
  assert.deepEqual([delay(0, 1000, false, 0), delay(0, 1000, false, 1)], [30_000, 60_000]);
});
