import type { EnvoyEnd } from "./state.ts";

/** How an Envoy ended, for after its name. */
export function endText({ code, signal, outOfMemory }: EnvoyEnd): string {
  if (outOfMemory) return "was killed by the kernel: out of memory";
  if (signal !== undefined) return `was ended by ${signal} (exit code ${code})`;
  return `ended with exit code ${code}`;
}

/** What may have been the reason for an end that is seen often, and what to do. */
export function failureHint({ signal, outOfMemory }: EnvoyEnd): string | undefined {
  if (outOfMemory) return "Give the container of the proxy more memory (resources.limits.memory)";
  if (signal === "SIGKILL") {
    return "This agent did not kill it: perhaps its memory was used up (kubectl describe pod tells OOMKilled)";
  }
  return undefined;
}
