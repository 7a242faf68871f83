/** The variable that all processes of a run of tests inherit. */
export const RUN = "MESH_TEST_RUN";

/**
 * Kills the processes that a test run has left behind, because killed tests cannot stop their own processes. Linux
 * only.
 */
export function killLeftBehind(run: string): void {
  kill(processesOf(run));
}

/**
 * Removes the network namespaces that a test run has left behind, with the processes in them. Their names begin with
 * `mesh-test-` and the id of the run. The function is synchronous, so that this process cannot add a namespace in the
 * meantime.
 */
export function removeNamespaces(run: string): void {
  for (const name of namesOfNamespaces().filter((name) => name.startsWith(`mesh-test-${run}-`))) {
    // Processes in a pod have a different environment, so they are found by their namespace.
    const { stdout } = new Deno.Command("ip", { args: ["netns", "pids", name] }).outputSync();
    kill(new TextDecoder().decode(stdout).split(/\s+/).filter((pid) => pid !== "").map(Number));
    new Deno.Command("ip", { args: ["netns", "delete", name] }).outputSync();
  }
}

function namesOfNamespaces(): string[] {
  try {
    return [...Deno.readDirSync("/run/netns")].map(({ name }) => name);
  } catch {
    return [];
  }
}

function kill(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // The process has already exited.
    }
  }
}

function processesOf(run: string): number[] {
  try {
    const pids = [...Deno.readDirSync("/proc")].map(({ name }) => Number(name)).filter(Number.isInteger);
    return pids.filter((pid) => pid !== Deno.pid && hasVariable(pid, `${RUN}=${run}`));
  } catch {
    return [];
  }
}

function hasVariable(pid: number, variable: string): boolean {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/environ`).split("\0").includes(variable);
  } catch {
    return false;
  }
}
