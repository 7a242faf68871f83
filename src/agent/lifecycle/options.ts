import type { Logger } from "../../platform/log.ts";
import type { SignalName } from "../../platform/world.ts";
import type { Rules } from "./rules.ts";
import type { Phase } from "./state.ts";

export interface LifecycleOptions {
  /** `undefined` (DISABLE_ENVOY): only wait for signals. */
  readonly envoy: EnvoyOptions | undefined;
  readonly rules: Rules;
  /** Files whose change asks for a hot restart, and the polling interval. */
  readonly watch?: { readonly paths: readonly string[]; readonly milliseconds: number } | undefined;
  readonly log: Logger;
  /** Receives the control before anything starts. */
  readonly attach?: ((control: LifecycleControl) => void) | undefined;
  /** The exit code of an end that a signal asks for; default: 0. */
  readonly stopCode?: ((signal: SignalName) => number) | undefined;
  /** Called with each new phase. */
  readonly changed?: ((phase: Phase) => void) | undefined;
}

/** How to start and control Envoy. */
export interface EnvoyOptions {
  readonly binary: string;
  /**
   * Writes what an epoch needs (its bootstrap) and returns Envoy's arguments. For hot restarts they hold
   * `--restart-epoch`, `--base-id`, `--drain-time-s` and `--parent-shutdown-time-s`, and no `--disable-hot-restart`.
   */
  readonly prepare: (epoch: number) => Promise<readonly string[]>;
  /** Removes the files of `prepare` after the epoch has exited, or if it is not started. */
  readonly discard?: ((epoch: number) => Promise<void>) | undefined;
  /** Added to this process's environment. */
  readonly env: Readonly<Record<string, string>>;
  /** The admin interface, such as `http://127.0.0.1:15000`. */
  readonly adminUrl: string;
  /** Drain inbound listeners only: for sidecars, not for gateways. */
  readonly inboundOnly: boolean;
  /** Ports of the health and metrics listeners: their connections do not delay a drain. */
  readonly ownPorts: readonly number[];
  /** Receives each line of Envoy's stderr; without it Envoy inherits this process's stderr. */
  readonly errorLine?: ((line: string) => void) | undefined;
}

/** Requests to the lifecycle; `by` in an event names the requester in the log: a signal, `POST /drain`. */
export interface LifecycleControl {
  phase(): Phase;
  send(name: "stop" | "quit" | "drain" | "reload", event: { readonly by: string }): void;
}
