import type { Logger } from "../../platform/log.ts";
import type { Prober } from "../status/probes/config.ts";

export type HealthCheck =
  | {
    readonly kind: "asked";
    readonly prober: Prober;
    /** An IP address or a name. */
    readonly host: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
  }
  | { readonly kind: "exec"; readonly command: readonly [string, ...string[]] };

/** Settings of `readinessProbe` in the proxy configuration: health checks of a workload without a kubelet. */
export interface HealthSettings {
  readonly check: HealthCheck;
  readonly initialDelaySeconds: number;
  readonly timeoutSeconds: number;
  readonly periodSeconds: number;
  /** Number of consecutive results that change the reported health. */
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

export interface HealthReport {
  /** Reason why the workload is unhealthy, in one line; `undefined` if healthy. */
  readonly problem: string | undefined;
}

export interface HealthReports {
  current(): HealthReport | undefined;
  /** Calls `changed` for each new report, until the returned function is called. */
  subscribe(changed: () => void): () => void;
}

export interface HealthOptions extends HealthSettings {
  /** Resolves with the reason why Envoy is not ready, or `undefined`. Called before the application is checked. */
  readonly envoyProblem: () => Promise<string | undefined>;
  readonly log: Logger;
}
