/**
 * Calculates when to renew a certificate, and when to retry after a failure. Source: Istio's secret cache (rotateTime).
 */
import type { RenewalOptions } from "./options.ts";

export interface Moment {
  /** Milliseconds since 1970 by the wall clock, which may be wrong or may be changed. */
  readonly now: number;
  /** Milliseconds by the monotonic clock. */
  readonly elapsed: number;
  /** Random number from 0 to 1. */
  readonly random: number;
}

/** The certificate in force; times in milliseconds since 1970, except `dueElapsed`. */
export interface Held {
  readonly notBefore: number;
  readonly notAfter: number;
  /** Renewal time, by the wall clock and by the monotonic clock. */
  readonly dueAt: number;
  readonly dueElapsed: number;
}

/**
 * Limits for the fraction of the lifetime that remains at renewal. The limits prevent renewal in a loop and renewal
 * after expiry.
 */
const MIN_LEFT = 0.01;
const MAX_LEFT = 0.99;
/** Minimum wait in milliseconds. If the clock is far ahead, every certificate looks expired: do not flood the CA. */
const MIN_WAIT = 500;

/**
 * Returns the certificate with its renewal time. The lifetime counts from now, because CAs backdate certificates. The
 * lifetime is at most the certificate's validity, because the clock may be behind.
 */
export function dueAt(
  validity: { readonly notBefore: Date; readonly notAfter: Date },
  { now, elapsed, random }: Moment,
  { ratio, jitter }: RenewalOptions,
): Held {
  const [notBefore, notAfter] = [validity.notBefore.getTime(), validity.notAfter.getTime()];
  const span = Math.min(notAfter - now, notAfter - notBefore);
  const left = Math.min(MAX_LEFT, Math.max(MIN_LEFT, ratio + jitter * (2 * random - 1)));
  const wait = Math.max(MIN_WAIT, Math.round(span * (1 - left)));
  return { notBefore, notAfter, dueAt: now + wait, dueElapsed: elapsed + wait };
}

/**
 * Whether a certificate is due for renewal, by either clock: the wall clock may be set back, and the monotonic clock
 * may stop during sleep. A certificate is also due if the clock was set back to a time before its validity, because
 * peers refuse the certificate then.
 */
export function isDue(held: Held, moment: Moment): boolean {
  return moment.now >= held.dueAt || moment.elapsed >= held.dueElapsed || isSetBeforeStart(held, moment);
}

/** Milliseconds. A smaller difference comes from gradual clock adjustment (slewing). */
const MIN_SET_BACK = 1000;

/**
 * Whether the clock was set back, after the certificate was issued, to a time before the certificate's validity. A
 * certificate that was not valid yet when it was issued (the CA's clock is ahead) does not count, because a new
 * certificate would not be valid yet either.
 */
function isSetBeforeStart({ notBefore, dueAt, dueElapsed }: Held, { now, elapsed }: Moment): boolean {
  const setBack = dueAt - dueElapsed - (now - elapsed);
  return now < notBefore && setBack > MIN_SET_BACK;
}

/**
 * Maximum time until a clock change or a suspend of the host is noticed, in milliseconds. Peers may refuse the
 * certificate during this time.
 */
const MAX_SLEEP = 1000;

/** Returns the milliseconds until the next check. */
export function until(held: Held, { now, elapsed }: Moment): number {
  return Math.max(0, Math.min(held.dueAt - now, held.dueElapsed - elapsed, MAX_SLEEP));
}

/** Immediate retries in milliseconds, with each delay twice the last, ±10%. Source: pilot-agent. */
const IMMEDIATE = { maxTries: 5, first: 100, factor: 2, jitter: 0.1 } as const;
/** Delays in milliseconds between rounds of immediate retries, each 1.5 times the last, ±50%. */
const ROUNDS = { first: 500, factor: 1.5, jitter: 0.5, max: 60_000 } as const;
/** Minimum delay in milliseconds, even if the current certificate expires soon. */
const MIN_DELAY = 1000;

/** The state of retries: failed requests since the last long delay, and the number of long delays. */
export interface Retries {
  readonly tries: number;
  readonly rounds: number;
}

/**
 * Returns the pause before the next attempt, in milliseconds. The last attempts come well before the certificate
 * expires.
 */
export function retryDelay(
  { tries, rounds, held }: Retries & { readonly held: Held | undefined },
  { isTransient }: { readonly isTransient: boolean },
  { now, random }: Moment,
): Retries & { readonly milliseconds: number } {
  if (isTransient && tries + 1 < IMMEDIATE.maxTries) {
    const milliseconds = spread(IMMEDIATE.first * IMMEDIATE.factor ** tries, IMMEDIATE.jitter, random);
    return { milliseconds, tries: tries + 1, rounds };
  }
  const pause = spread(Math.min(ROUNDS.first * ROUNDS.factor ** rounds, ROUNDS.max), ROUNDS.jitter, random);
  return { milliseconds: Math.min(pause, maxDelay(held?.notAfter, now)), tries: 0, rounds: rounds + 1 };
}

function maxDelay(notAfter: number | undefined, now: number): number {
  const left = (notAfter ?? 0) - now;
  return left > 0 ? Math.max(left / 2, MIN_DELAY) : ROUNDS.max;
}

function spread(milliseconds: number, jitter: number, random: number): number {
  return Math.round(Math.min(milliseconds * (1 + jitter * (2 * random - 1)), ROUNDS.max));
}
