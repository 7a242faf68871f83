import type { World } from "../../core/world/world.ts";

/** Runs a command that reads its own flags. */
type RawRun = (world: World) => Promise<number>;

/**
 * Commands that read their words themselves, because they stand in for a program with a flag language of its own
 * (`istio-iptables`) or because containers start them, and commander is a sixth of a start; here is only who gets the
 * words. `undefined` if the command line is for the other commands.
 */
export function rawCommand(args: readonly string[]): RawRun | undefined {
  const [first = "", second = "", ...rest] = args;
  if (first === "iptables") return async (world) => (await iptables()).runIptables(world, second, rest);
  if (first === "wait") return async (world) => (await import("./wait.ts")).waitCommand(world, args.slice(1));
  if (first === "agent") return async (world) => (await import("./agent.ts")).agentCommand(world, args.slice(1));
  if (first === "webhook") return async (world) => (await import("./webhook.ts")).webhookCommand(world, args.slice(1));
  if (first === "check") return async (world) => (await import("./check.ts")).checkCommand(world, args.slice(1));
  if (first !== "pilot-agent") return undefined;
  if (IPTABLES.includes(second)) return async (world) => (await iptables()).runIstioIptables(world, second, rest);
  return async (world) => (await import("./pilot_agent.ts")).runPilotAgent(world, args.slice(1));
}

const IPTABLES: readonly string[] = ["istio-iptables", "istio-clean-iptables"];

function iptables() {
  return import("../../iptables/mod.ts");
}
