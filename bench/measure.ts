/** Helpers for the benchmarks of the agent: they wait for a proxy, and measure its time and memory. */

/** Milliseconds after which a benchmark has failed; everything here is much faster. */
const DEADLINE = 20_000;

/** Polls a URL until its status is as expected. */
export async function until(url: string, isReady: (status: number) => boolean): Promise<void> {
  await eventually(url, async () => isReady(await statusOf(url)));
}

/** Polls until a condition is true. `what` describes it in the error. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE;
  while (!await isSo()) {
    if (performance.now() > deadline) throw new Error(`"${what}" was not there in ${DEADLINE} ms`);
    await pause(2);
  }
}

/** Returns the status of a response; 0 if nothing listens. */
export async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

/** Stops the agent with SIGQUIT, which skips the drain. Envoy has no handler for it and ends too. */
export async function end(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGQUIT");
  await child.status;
}

/** Returns the resident memory of a process in megabytes. */
export async function resident(pid: number): Promise<number> {
  const [, kibibytes = "NaN"] = /^VmRSS:\s+(\d+) kB$/m.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  return Number(kibibytes) * 1024 / 1e6;
}

/** Returns the processor time that a process has used, in milliseconds, in steps of 10 (proc(5): utime and stime). */
export async function processorTime(pid: number): Promise<number> {
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).replace(/^.*\) /, "").split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** Formats the median, the minimum and the maximum as columns. */
export function columns(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const chosen = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)];
  return chosen.map((time = NaN) => time.toFixed(1).padStart(8)).join("");
}

/** Returns the median. */
export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Formats a number as a column. */
export function column(size: number): string {
  return size.toFixed(1).padStart(8);
}

export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

/**
 * Runs a benchmark again, with these flags, in a new network namespace that is removed at its end. Before it starts, sh
 * runs `script` there. `more` are flags of unshare for more namespaces. Returns the exit code.
 */
export async function againInNamespaces(
  file: string,
  flags: readonly string[],
  { script, more = [] }: { readonly script: string; readonly more?: readonly string[] },
): Promise<number> {
  const self = [Deno.execPath(), "run", "--quiet", "--allow-all", file];
  const args = ["--net", ...more, "sh", "-c", `${script} && exec "$@"`, "sh", ...self, ...flags];
  return (await new Deno.Command("unshare", { args }).spawn().status).code;
}
