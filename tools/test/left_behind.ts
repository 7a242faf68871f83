/** The variable that all processes of a run of tests inherit. */
export const RUN = "MESH_TEST_RUN";

/** Kills the processes that a run of tests has left behind: killed tests cannot end their own. Linux only. */
export function killLeftBehind(run: string): void {
  for (const pid of processesOf(run)) {
    try {
      Deno.kill(pid, "SIGKILL");
    } catch {
      // It has ended meanwhile.
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
