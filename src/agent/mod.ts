/** Runs the agent of a pod's proxy, and sends requests to a running agent. Each command is loaded lazily. */
import type { FlagGroups } from "../golang/flags/mod.ts";
import type { World } from "../platform/world.ts";
import type { ApplyRules } from "./redirect.ts";
import type { Message, ProxyRequest } from "./request.ts";
import type { ProgramName } from "./settings/command_line.ts";

export { stopCode } from "./stop_code.ts";

/** `agent` and `pilot-agent proxy`: runs the proxy until it ends; resolves with the exit code. */
export async function runAgent(
  world: World,
  args: readonly string[],
  name: ProgramName,
  applyRules: ApplyRules,
): Promise<number> {
  return await (await import("./run.ts")).runAgent(world, args, name, applyRules);
}

/** Opens the log that also reports errors of the settings. */
export async function earlyLog(world: World, args: readonly string[], name: ProgramName) {
  return (await import("./early_log.ts")).earlyLog(world, args, name);
}

/** `agent bootstrap`: prints Envoy's bootstrap. */
export async function runAgentBootstrap(world: World, args: readonly string[]): Promise<number> {
  return await (await import("./bootstrap/write.ts")).runAgentBootstrap(world, args);
}

/** Returns the flags and variables of `agent`, `agent bootstrap` and `pilot-agent proxy`. */
export async function agentFlags(): Promise<FlagGroups> {
  const { FLAG_GROUPS } = await import("./settings/flags.ts");
  return { ...FLAG_GROUPS, "Environment variables": (await import("./settings/variables.ts")).VARIABLES };
}

/** `pilot-agent request`: sends a request to a port of the proxy and prints the response. */
export async function runRequest(world: World, request: ProxyRequest): Promise<number> {
  return await (await import("./request.ts")).runRequest(world, request);
}

/** Sends a request to the agent of this pod, for `agent quit` and `agent drain`. */
export async function messageAgent(world: World, message: Message): Promise<number> {
  return await (await import("./request.ts")).messageAgent(world, message);
}
