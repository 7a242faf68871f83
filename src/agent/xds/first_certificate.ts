import type { XdsIdentity } from "./options.ts";

/** Waits until there is a certificate: `false` if the time ran out, or the signal fired. */
export function firstCertificate(identity: XdsIdentity, milliseconds: number, signal: AbortSignal): Promise<boolean> {
  if (identity.workload() !== undefined) return Promise.resolve(true);
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const unsubscribe = identity.subscribe(() => identity.workload() !== undefined && end(true));
  const giveUp = () => end(false);
  const timer = setTimeout(giveUp, milliseconds);
  signal.addEventListener("abort", giveUp);
  if (signal.aborted) giveUp();
  function end(has: boolean): void {
    clearTimeout(timer);
    signal.removeEventListener("abort", giveUp);
    unsubscribe();
    resolve(has);
  }
  return promise;
}
