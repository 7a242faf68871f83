export interface EnvoyEnd {
  /** Exit code; 128 + signal number if a signal ended it. */
  readonly code: number;
  readonly signal: string | undefined;
  readonly outOfMemory: boolean;
}

/** The end of a sentence. */
export function endText({ code, signal, outOfMemory }: EnvoyEnd): string {
  if (outOfMemory) return "was killed by the kernel (out of memory)";
  if (signal !== undefined) return `was terminated by ${signal} (exit code ${code})`;
  return `exited with code ${code}`;
}

/** What to do about a frequent kind of exit. */
export function failureHint({ signal, outOfMemory }: EnvoyEnd): string | undefined {
  if (outOfMemory) return "Increase the memory limit of the proxy container (resources.limits.memory)";
  if (signal === "SIGKILL") {
    return "The agent did not kill it; it may have run out of memory (kubectl describe pod shows OOMKilled)";
  }
  return undefined;
}
