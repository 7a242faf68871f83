/** Runs a program to its end, and measures its resources. */

/** The output of a program, and the resources that it used. Processor time varies little on a busy machine. */
export interface Usage {
  readonly stdout: string;
  readonly stderr: string;
  readonly seconds: number;
  /** Processor time in seconds, user and system, of the program and all its child processes. */
  readonly processor: number;
  /** Peak resident memory of the largest process. */
  readonly megabytes: number;
}

/** ru_maxrss is in KiB. */
const MEASURE = `import resource, subprocess, sys
subprocess.run(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("used", used.ru_maxrss, used.ru_utime + used.ru_stime, file=sys.stderr)`;

/** Runs a program with an empty standard input. Needs python3. */
export async function usageOf(command: readonly string[], env: Record<string, string> = {}): Promise<Usage> {
  const start = performance.now();
  const args = ["-c", MEASURE, ...command];
  const output = await new Deno.Command("python3", { args, env, stdin: "null" }).output();
  const seconds = (performance.now() - start) / 1000;
  const [stdout, all] = [output.stdout, output.stderr].map((bytes) => new TextDecoder().decode(bytes));
  const [line = "", kib, processor] = /used (\d+) ([\d.]+)\n$/.exec(all ?? "") ?? [];
  const stderr = (all ?? "").slice(0, -line.length);
  return { stdout: stdout ?? "", stderr, seconds, processor: Number(processor), megabytes: Number(kib) * 1024 / 1e6 };
}
