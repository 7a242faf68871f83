/** What the benchmarks of the agent have in common: waiting for a proxy, its time and its memory. */

/** Nothing takes so long unless it fails. */
const DEADLINE = 20_000;

/** Asks again and again until the status is the right one. */
export async function until(url: string, isReady: (status: number) => boolean): Promise<void> {
  await eventually(url, async () => isReady(await statusOf(url)));
}

/** Looks again and again until something is so; `what` is for the error. */
export async function eventually(what: string, isSo: () => boolean | Promise<boolean>): Promise<void> {
  const deadline = performance.now() + DEADLINE;
  while (!await isSo()) {
    if (performance.now() > deadline) throw new Error(`"${what}" was not there in ${DEADLINE} ms`);
    await pause(2);
  }
}

/** The status of an answer; 0 if nobody listens. */
export async function statusOf(url: string): Promise<number> {
  try {
    const response = await fetch(url);
    await response.body?.cancel();
    return response.status;
  } catch {
    return 0;
  }
}

/** SIGQUIT ends the agent without a drain, and Envoy, which has no handler for it. */
export async function end(child: Deno.ChildProcess): Promise<void> {
  child.kill("SIGQUIT");
  await child.status;
}

/** Megabytes of a process that are in memory. */
export async function resident(pid: number): Promise<number> {
  const [, kibibytes = "NaN"] = /^VmRSS:\s+(\d+) kB$/m.exec(await Deno.readTextFile(`/proc/${pid}/status`)) ?? [];
  return Number(kibibytes) * 1024 / 1e6;
}

/** Milliseconds of processor time that a process has used, in steps of 10 (proc(5): utime and stime). */
export async function processorTime(pid: number): Promise<number> {
  const fields = (await Deno.readTextFile(`/proc/${pid}/stat`)).replace(/^.*\) /, "").split(" ");
  return 10 * (Number(fields[11]) + Number(fields[12]));
}

/** The middle, the least and the most, each in a column. */
export function columns(times: readonly number[]): string {
  const sorted = times.toSorted((a, b) => a - b);
  const chosen = [sorted[Math.floor(sorted.length / 2)], sorted[0], sorted.at(-1)];
  return chosen.map((time = NaN) => time.toFixed(1).padStart(8)).join("");
}

/** The middle one. */
export function median(times: readonly number[]): number {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? NaN;
}

export function pause(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** A number in a column. */
export function column(size: number): string {
  return size.toFixed(1).padStart(8);
}

export function print(text: string): void {
  Deno.stdout.writeSync(new TextEncoder().encode(text));
}

/**
 * Runs a benchmark again, with more flags, in a network namespace of its own that ends with it; `script` is what a shell
 * does there before, `more` are further kinds of namespaces. Resolves with the exit code.
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
