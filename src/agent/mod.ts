/**
 * The proxy's side of a pod: the agent that runs Envoy, and what is said to an agent that runs. Settings or a request in,
 * an exit code out. Each command is loaded when it runs.
 */
import type { World } from "../core/world/world.ts";
import type { EarlyLog } from "./early_log.ts";
import type { Message, ProxyRequest } from "./request.ts";
import type { ProgramName } from "./settings/command_line.ts";
import type { HelpSubject } from "./settings/help.ts";

/** `agent` and `pilot-agent proxy`: runs the proxy of this pod until it ends; the exit code is Envoy's, or 0. */
export async function runAgent(world: World, words: readonly string[], name: ProgramName): Promise<number> {
  return await (await import("./run.ts")).runAgent(world, words, name);
}

/** The agent's log where its settings are not known, for what comes before it and for its errors. */
export async function earlyLog(world: World, words: readonly string[], name: ProgramName): Promise<EarlyLog> {
  return (await import("./early_log.ts")).earlyLog(world, words, name);
}

/** `agent bootstrap`: prints the bootstrap that `agent` would give to Envoy. */
export async function runAgentBootstrap(world: World, words: readonly string[]): Promise<number> {
  return await (await import("./bootstrap/print.ts")).runAgentBootstrap(world, words);
}

/** The help text of `agent`, `agent bootstrap` and `pilot-agent proxy`. */
export async function agentHelp(program: string, subject: HelpSubject = "agent"): Promise<string> {
  return (await import("./settings/help.ts")).agentHelpText(program, subject);
}

/** `pilot-agent request`: asks a port of the proxy and prints the answer. */
export async function runRequest(world: World, request: ProxyRequest): Promise<number> {
  return await (await import("./request.ts")).runRequest(world, request);
}

/** `agent quit` and `agent drain`: tells the agent of this pod something. */
export async function tellAgent(world: World, message: Message): Promise<number> {
  return await (await import("./request.ts")).tellAgent(world, message);
}
