export interface EnvoyEnd {
  /** Exit code; 128 + signal number if a signal terminated Envoy. */
  readonly code: number;
  readonly signal: string | undefined;
  readonly outOfMemory: boolean;
}

/** Describes the exit. The text continues a sentence that begins with the name of the process. */
export function endText({ code, signal, outOfMemory }: EnvoyEnd): string {
  if (outOfMemory) return "was killed by the kernel (out of memory)";
  if (signal !== undefined) return `was terminated by ${signal} (exit code ${code})`;
  return `exited with code ${code}`;
}

/** Returns advice for a common kind of exit. */
export function failureHint({ signal, outOfMemory }: EnvoyEnd): string | undefined {
  if (outOfMemory) return "Increase the memory limit of the proxy container (resources.limits.memory)";
  if (signal === "SIGKILL") {
    return "The agent did not kill it; it may have run out of memory (kubectl describe pod shows OOMKilled)";
  }
  return undefined;
}
