import type { SignalName } from "../platform/world.ts";

const NUMBERS: Readonly<Partial<Record<SignalName, number>>> = { SIGINT: 2, SIGTERM: 15 };

export interface Past {
  /** Whether the proxy was ready at least once; `undefined` if readiness was never checked. */
  readonly wasReady: boolean | undefined;
  readonly wasLive: boolean;
}

/**
 * Returns the exit code after a signal: 0 if the proxy has worked, otherwise 128 + signal. The kubelet stops a container
 * whose postStart hook failed. With `restartPolicy: OnFailure`, the kubelet restarts the container only after an error
 * (Istio's issue 45627). After SIGQUIT, which a person sends, the code is always 0.
 *
 * | ready once  | Envoy live once | code         |
 * |-------------|-----------------|--------------|
 * | yes         | any             | 0            |
 * | no          | any             | 128 + signal |
 * | not checked | yes             | 0            |
 * | not checked | no              | 128 + signal |
 */
export function stopCode(signal: SignalName, { wasReady, wasLive }: Past): number {
  const number = NUMBERS[signal];
  return number === undefined || (wasReady ?? wasLive) ? 0 : 128 + number;
}
