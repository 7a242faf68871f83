import type { Logger } from "../../core/log.ts";
import type { Rules } from "./rules.ts";
import type { Phase } from "./state.ts";

/** What runs, by which rules, and who is told. */
export interface LifecycleOptions {
  /** Without an Envoy (DISABLE_ENVOY) only signals are waited for. */
  readonly envoy: EnvoyOptions | undefined;
  readonly rules: Rules;
  /** Files whose change asks for a hot restart, and how often they are looked at. */
  readonly watch?: { readonly paths: readonly string[]; readonly milliseconds: number } | undefined;
  readonly log: Logger;
  /** Gets, before anything starts, what others may ask of the lifecycle. */
  readonly attach?: ((control: LifecycleControl) => void) | undefined;
  /** Hears of each new phase. */
  readonly changed?: ((phase: Phase) => void) | undefined;
}

/** How Envoy is started and spoken to. */
export interface EnvoyOptions {
  readonly binary: string;
  /**
   * Writes what an epoch needs (its bootstrap) and returns Envoy's arguments. For hot restarts they hold
   * `--restart-epoch`, `--base-id`, `--drain-time-s` and `--parent-shutdown-time-s`, and no `--disable-hot-restart`.
   */
  readonly prepare: (epoch: number) => Promise<readonly string[]>;
  /** Removes what `prepare` has written, once the epoch has ended or is not started. */
  readonly discard?: ((epoch: number) => Promise<void>) | undefined;
  /** Added to the environment of this process. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly uid?: number | undefined;
  readonly gid?: number | undefined;
  /** URL of the admin interface, such as `http://127.0.0.1:15000`. */
  readonly adminUrl: string;
  /** Drains what comes in only: so for sidecars, not for gateways. */
  readonly inboundOnly: boolean;
  /** Ports of the proxy's own listeners (health, metrics): their connections keep no drain going. */
  readonly ownPorts: readonly number[];
  /** Gets each line of Envoy's standard error; without it that is this process's own. */
  readonly errorLine?: ((line: string) => void) | undefined;
}

/** What others may ask of the lifecycle. `by` says who asks, for the log: a signal, `POST /drain`. */
export interface LifecycleControl {
  phase(): Phase;
  /** An orderly end: drain, then the end of Envoy. */
  stop(by: string): void;
  /** The end of Envoy at once. */
  quit(by: string): void;
  /** A drain without an end. */
  drain(by: string): void;
  /** A hot restart. */
  reload(by: string): void;
}
