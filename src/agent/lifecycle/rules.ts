/** The timing of the lifecycle, in milliseconds. */
export interface Rules {
  /** Hot restarts are possible: Envoy's arguments name an epoch. */
  readonly hotRestart: boolean;
  readonly restart: RestartRules;
  readonly drain: DrainRules;
  /** From SIGTERM to SIGKILL. */
  readonly grace: number;
}

/** Restarts of a failed Envoy: `on-failure` is for virtual machines, without a kubelet. */
export interface RestartRules {
  readonly policy: "never" | "on-failure";
  /** Starts in a row, without the first one. */
  readonly budget: number;
  /** The wait before the first; each further one is twice as long. */
  readonly firstDelay: number;
  /** Time after which a live Envoy has its full budget again. */
  readonly stable: number;
}

export interface DrainRules {
  /** The drain time (terminationDrainDuration) without `exitOnZero`. */
  readonly duration: number;
  /** End the drain when no connection is left (EXIT_ON_ZERO_ACTIVE_CONNECTIONS). */
  readonly exitOnZero: boolean;
  /** With `exitOnZero`: the shortest drain (MINIMUM_DRAIN_DURATION). */
  readonly minimum: number;
  readonly maximum: number;
}

/** Istio 1.0 to 1.3 (pkg/proxy/agent.go, defaultRetry): 200 ms, 400 ms ... 102.4 s, 204.6 s in total. */
export const DEFAULT_RESTART: RestartRules = { policy: "never", budget: 10, firstDelay: 200, stable: 300_000 };

/** From SIGTERM to SIGKILL. Envoy exits within milliseconds. */
export const DEFAULT_GRACE = 5000;

const HOUR = 3_600_000;

export interface DrainLimits {
  readonly maximum?: number | undefined;
  readonly chosenDuration?: number | undefined;
  readonly minimum: number;
}

/**
 * The explicit limit, else an explicit terminationDrainDuration, else an hour; at least the minimum. Istio has no limit
 * (its issue 44690).
 */
export function longestDrain({ maximum, chosenDuration, minimum }: DrainLimits): number {
  return Math.max(minimum, maximum ?? chosenDuration ?? HOUR);
}

/** The delay before a restart. */
export function restartDelay({ firstDelay }: RestartRules, failures: number): number {
  return firstDelay * 2 ** failures;
}
