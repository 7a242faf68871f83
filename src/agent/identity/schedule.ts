/** When a certificate is renewed: pure decisions. Source: Istio's secret cache (rotateTime). */
import type { Moment, State } from "./machine.ts";
import type { RenewalOptions } from "./options.ts";

/** A certificate in force; times in milliseconds, since 1970 but for `dueElapsed`. */
export interface Held {
  readonly notBefore: number;
  readonly notAfter: number;
  /** When it is renewed, by the clock of this machine, and by the one that is never set. */
  readonly dueAt: number;
  readonly dueElapsed: number;
}

/** Whatever is asked for: not at once again and again, and not when it is over. */
const LEAST_LEFT = 0.01;
const MOST_LEFT = 0.99;
/** In milliseconds. To a clock that is far ahead each certificate is nearly over: the authority must not suffer from it. */
const LEAST_WAIT = 500;

/**
 * When it is renewed that came at this moment. The time that it has counts from then on, since authorities date
 * certificates back, but it is never longer than the certificate says: our clock may be behind.
 */
export function dueAt(
  { notBefore, notAfter }: Pick<Held, "notBefore" | "notAfter">,
  { now, elapsed, random }: Moment,
  { ratio, jitter }: RenewalOptions,
): Held {
  const span = Math.min(notAfter - now, notAfter - notBefore);
  const left = Math.min(MOST_LEFT, Math.max(LEAST_LEFT, ratio + jitter * (2 * random - 1)));
  const wait = Math.max(LEAST_WAIT, Math.round(span * (1 - left)));
  return { notBefore, notAfter, dueAt: now + wait, dueElapsed: elapsed + wait };
}

/** By either clock: one may have been set back, the other may stand still while a machine sleeps. */
export function isDue(held: Held, { now, elapsed }: Moment): boolean {
  return now >= held.dueAt || elapsed >= held.dueElapsed;
}

/** The clock of a machine may be set, the machine may sleep, and no timer of the runtime is longer than 24 days. */
export const LONGEST_SLEEP = 3_600_000;

/** How long nothing is to be done, in milliseconds. */
export function until(held: Held, { now, elapsed }: Moment): number {
  return Math.max(0, Math.min(held.dueAt - now, held.dueElapsed - elapsed, LONGEST_SLEEP));
}

/** Tries that may help at once, each after twice the time of the one before, a tenth more or less. */
const QUICK = { most: 5, first: 100, factor: 2, jitter: 0.1 } as const;
/** Pauses after them, each longer by half, half more or less. */
const SLOW = { first: 500, factor: 1.5, jitter: 0.5, longest: 60_000 } as const;
/** The shortest pause that the end of the certificate in force makes of a longer one. */
const LEAST = 1000;

/** A pause, and how many tries and pauses there have been with it. */
export interface Delay {
  readonly milliseconds: number;
  readonly tries: number;
  readonly rounds: number;
}

/** The pause after a further failure. It ends well before the certificate in force does. */
export function retryDelay(
  { tries, rounds, held }: Pick<State, "tries" | "rounds" | "held">,
  isTransient: boolean,
  { now, random }: Moment,
): Delay {
  if (isTransient && tries + 1 < QUICK.most) {
    const milliseconds = spread(QUICK.first * QUICK.factor ** tries, QUICK.jitter, random);
    return { milliseconds, tries: tries + 1, rounds };
  }
  const pause = spread(Math.min(SLOW.first * SLOW.factor ** rounds, SLOW.longest), SLOW.jitter, random);
  return { milliseconds: Math.min(pause, longestPause(held?.notAfter, now)), tries: 0, rounds: rounds + 1 };
}

function longestPause(notAfter: number | undefined, now: number): number {
  const left = (notAfter ?? 0) - now;
  return left > 0 ? Math.max(left / 2, LEAST) : SLOW.longest;
}

function spread(milliseconds: number, jitter: number, random: number): number {
  return Math.round(Math.min(milliseconds * (1 + jitter * (2 * random - 1)), SLOW.longest));
}
