import type { EnvoyOptions } from "../envoy/options.ts";
import type { Logger } from "../../platform/log.ts";
import type { SignalName } from "../../platform/world.ts";
import type { Rules } from "./rules.ts";
import type { Phase } from "./state.ts";

export interface LifecycleOptions {
  /** `undefined` (DISABLE_ENVOY) means that the agent only waits for signals. */
  readonly envoy: EnvoyOptions | undefined;
  readonly rules: Rules;
  /** Files whose change triggers a hot restart, and the polling interval. */
  readonly watch?: { readonly paths: readonly string[]; readonly milliseconds: number } | undefined;
  readonly log: Logger;
  /** Called with the control functions before anything starts. */
  readonly attach?: ((control: LifecycleControl) => void) | undefined;
  /** Returns the exit code after a signal; default: 0. */
  readonly stopCode?: ((signal: SignalName) => number) | undefined;
  readonly changed?: ((phase: Phase) => void) | undefined;
}

/** Requests to the running lifecycle. `by` names the requester in the log, for example a signal or `POST /drain`. */
export interface LifecycleControl {
  phase(): Phase;
  send(name: "stop" | "quit" | "drain" | "reload", event: { readonly by: string }): void;
}
