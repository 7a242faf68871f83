/** When and for how long: what the lifecycle goes by. All times are in milliseconds. */
export interface Rules {
  /** New epochs are possible: Envoy's arguments name an epoch, and do not disable hot restarts. */
  readonly hotRestart: boolean;
  readonly restart: RestartRules;
  readonly drain: DrainRules;
  /** From SIGTERM to SIGKILL. */
  readonly grace: number;
}

/** Whether an Envoy that failed is started again: `on-failure` is for virtual machines, where no kubelet does it. */
export interface RestartRules {
  readonly policy: "never" | "on-failure";
  /** Starts in a row, without the first one. */
  readonly budget: number;
  /** The wait before the first; each further one is twice as long. */
  readonly firstDelay: number;
  /** An Envoy that was live for so long has its budget back. */
  readonly stable: number;
}

export interface DrainRules {
  /** How long Envoy drains (terminationDrainDuration) unless it ends when no connection is left. */
  readonly duration: number;
  /** Ends the drain when no connection is left (EXIT_ON_ZERO_ACTIVE_CONNECTIONS). */
  readonly exitOnZero: boolean;
  /** With `exitOnZero`: how long it drains at least (MINIMUM_DRAIN_DURATION). */
  readonly minimum: number;
  /** With `exitOnZero`: how long it drains at most. */
  readonly maximum: number;
}

/** The restarts of Istio 1.0 to 1.3: 200 ms, 400 ms ... 102.4 s, in sum 204.6 s (pkg/proxy/agent.go, defaultRetry). */
export const DEFAULT_RESTART: RestartRules = { policy: "never", budget: 10, firstDelay: 200, stable: 300_000 };

/** Envoy ends within some milliseconds of SIGTERM: this is for one that hangs. */
export const DEFAULT_GRACE = 5000;

const HOUR = 3_600_000;

/** What is known of the longest drain; `undefined` is not given. */
export interface DrainLimits {
  /** A limit of its own. */
  readonly maximum?: number | undefined;
  /** terminationDrainDuration if it was given: its default of 5 seconds is no limit that anyone chose. */
  readonly chosenDuration?: number | undefined;
  readonly minimum: number;
}

/**
 * How long a drain with EXIT_ON_ZERO_ACTIVE_CONNECTIONS may take: the limit of its own; else terminationDrainDuration
 * if that was chosen; else an hour, which is longer than pods are let live. Never less than the minimum. Istio has no
 * limit at all (its issue 44690).
 */
export function longestDrain({ maximum, chosenDuration, minimum }: DrainLimits): number {
  return Math.max(minimum, maximum ?? chosenDuration ?? HOUR);
}

/** The wait before a restart after so many failures in a row. */
export function restartDelay({ firstDelay }: RestartRules, failures: number): number {
  return firstDelay * 2 ** failures;
}
