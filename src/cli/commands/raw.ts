import type { World } from "../../core/world/world.ts";

/** Runs a command that reads its own flags. */
type RawRun = (world: World) => Promise<number>;

/**
 * Commands that stand in for a program with a flag language of its own (`istio-iptables`) read their arguments
 * themselves, from one table with the environment variables; here is only who gets the words. `undefined` if the
 * command line is for the other commands.
 */
export function rawCommand(args: readonly string[]): RawRun | undefined {
  const [first = "", second = "", ...rest] = args;
  if (first === "iptables") return async (world) => (await iptables()).runIptables(world, second, rest);
  if (first === "pilot-agent" && PILOT_AGENT.includes(second)) {
    return async (world) => (await iptables()).runIstioIptables(world, second, rest);
  }
  return undefined;
}

const PILOT_AGENT: readonly string[] = ["istio-iptables", "istio-clean-iptables"];

function iptables() {
  return import("../../iptables/mod.ts");
}
