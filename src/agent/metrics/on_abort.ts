/** Calls the action when the signal is aborted, at once if it is already; not more than once. */
export function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
}
