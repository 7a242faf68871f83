/** When a certificate is renewed: pure decisions. Source: Istio's secret cache (rotateTime). */
import type { Moment } from "./machine.ts";
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
