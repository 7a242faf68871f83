/** The agent's exit code after a signal that asks for the end. */
import type { SignalName } from "../platform/world.ts";

const NUMBERS: Readonly<Partial<Record<SignalName, number>>> = { SIGINT: 2, SIGTERM: 15 };

/** What is known about the proxy when the signal comes. */
export interface Past {
  /** Whether readiness was answered by 200 once; `undefined` if nobody has asked. */
  readonly wasReady: boolean | undefined;
  /** Whether Envoy was live once. */
  readonly wasLive: boolean;
}

/**
 * 0 if the proxy has worked, else 128 + signal: the kubelet stops a container whose postStart hook failed, and with
 * `restartPolicy: OnFailure` it restarts the container only after an error (Istio's issue 45627). SIGQUIT is a person's request: always 0.
 *
 * | ready once | Envoy live once | code         |
 * |------------|-----------------|--------------|
 * | yes        | any             | 0            |
 * | no         | any             | 128 + signal |
 * | not asked  | yes             | 0            |
 * | not asked  | no              | 128 + signal |
 */
export function stopCode(signal: SignalName, { wasReady, wasLive }: Past): number {
  const number = NUMBERS[signal];
  return number === undefined || (wasReady ?? wasLive) ? 0 : 128 + number;
}
