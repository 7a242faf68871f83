import { errorLine, EXIT, MeshError, messageOf, oneLine } from "../../../base/errors.ts";
import type { World } from "../../../platform/world.ts";
import { withEarlySignals } from "../../early_signals.ts";

type Name = "agent" | "pilot-agent";

/**
 * Runs the agent and returns its exit code. Handles signals from the start. If the log is JSON, an error is written to
 * the log, and `codeOf` returns the exit code for a MeshError. If the log is text, the error is thrown.
 */
export async function startAgent(
  world: World,
  args: readonly string[],
  name: Name,
  codeOf: (error: MeshError) => number,
): Promise<number> {
  const agent = () => import("../../../agent/mod.ts");
  return await withEarlySignals(world, run, async (signal) => {
    const { earlyLog, stopCode } = await agent();
    const { write } = await earlyLog(world, args, name);
    write("info", `${signal}: the agent exits before starting Envoy`);
    return stopCode(signal, { wasReady: undefined, wasLive: false });
  });

  async function applyRules(args: readonly string[]): Promise<number> {
    const { runIptables } = await import("../../../iptables/mod.ts");
    return await runIptables(world, { mode: "apply", isDropIn: false }, args);
  }

  async function run(world: World): Promise<number> {
    try {
      return await (await agent()).runAgent(world, args, name, applyRules);
    } catch (error) {
      const { write, isJson } = await (await agent()).earlyLog(world, args, name);
      if (!isJson) throw error;
      write("fatal", textOf(error));
      return error instanceof MeshError ? codeOf(error) : EXIT.failed;
    }
  }
}

function textOf(error: unknown): string {
  if (error instanceof MeshError) return errorLine(error);
  return `Unexpected failure of this program: ${oneLine(messageOf(error))}; please report it`;
}
