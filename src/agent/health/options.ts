import type { Logger } from "../../core/log.ts";
import type { Prober } from "../status/probes/config.ts";

/** How it is found out whether the application is well. */
export type HealthCheck =
  /** It is asked, from the agent's own address for such questions. */
  | {
    readonly kind: "asked";
    readonly prober: Prober;
    /** An IP address or a name. */
    readonly host: string;
    readonly headers: readonly (readonly [name: string, value: string])[];
  }
  /** A program is run, whose exit code is 0 if it is. */
  | { readonly kind: "exec"; readonly command: readonly [string, ...string[]] };

/** `readinessProbe` of the proxy configuration: what the control plane is told about a workload that no kubelet probes. */
export interface HealthSettings {
  readonly check: HealthCheck;
  readonly initialDelaySeconds: number;
  readonly timeoutSeconds: number;
  readonly periodSeconds: number;
  /** So many results in a row make a change. */
  readonly successThreshold: number;
  readonly failureThreshold: number;
}

/** What is reported. */
export interface HealthReport {
  /** Why it is not well, in one line; `undefined` if it is. */
  readonly problem: string | undefined;
}

/** Reports for the control plane: the last one, and a call for each new one. */
export interface HealthReports {
  /** `undefined` before the first. */
  current(): HealthReport | undefined;
  /** Calls back for each new report until the returned function is called. */
  subscribe(changed: () => void): () => void;
}

/** What checks are started with. */
export interface HealthOptions extends HealthSettings {
  /** Why Envoy is not ready, which is asked first; `undefined` if it is. */
  readonly envoyProblem: () => Promise<string | undefined>;
  readonly log: Logger;
}
