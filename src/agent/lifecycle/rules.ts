/** Timing of the lifecycle, in milliseconds. */
export interface Rules {
  /** Whether hot restarts are possible: Envoy's arguments contain an epoch. */
  readonly hotRestart: boolean;
  readonly restart: RestartRules;
  readonly drain: DrainRules;
  /** Time between SIGTERM and SIGKILL. */
  readonly grace: number;
}

/** Rules for restarting a failed Envoy. `on-failure` is for virtual machines, which have no kubelet. */
export interface RestartRules {
  readonly policy: "never" | "on-failure";
  /** Maximum number of consecutive restarts. */
  readonly budget: number;
  /** Delay before the first restart; each further delay is twice as long. */
  readonly firstDelay: number;
  /** Time for which Envoy must be live before earlier restarts no longer count. */
  readonly stable: number;
}

export interface DrainRules {
  /** Drain time (terminationDrainDuration) if `exitOnZero` is off. */
  readonly duration: number;
  /** Whether the drain ends when all connections are closed (EXIT_ON_ZERO_ACTIVE_CONNECTIONS). */
  readonly exitOnZero: boolean;
  /** Minimum drain time with `exitOnZero` (MINIMUM_DRAIN_DURATION). */
  readonly minimum: number;
  readonly maximum: number;
}

/** The delays of Istio 1.0 to 1.3 (pkg/proxy/agent.go, defaultRetry): 200 ms, 400 ms ... 102.4 s, 204.6 s in total. */
export const DEFAULT_RESTART: RestartRules = { policy: "never", budget: 10, firstDelay: 200, stable: 300_000 };

/** Default time between SIGTERM and SIGKILL. Envoy exits within milliseconds. */
export const DEFAULT_GRACE = 5000;
