/** How long is waited after a try that failed: pure decisions. Numbers of pilot-agent. */
import type { Moment, State } from "./machine.ts";

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
