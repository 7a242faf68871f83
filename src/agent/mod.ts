/** Runs the agent of a pod's proxy, and sends requests to a running agent. Each command is loaded lazily. */
import type { FlagGroups } from "../golang/flags/mod.ts";

export { stopCode } from "./stop_code.ts";

/** `agent` and `pilot-agent proxy`: runs the proxy until it ends; resolves with the exit code. */
export const runAgent: typeof import("./run.ts").runAgent = async (...given) =>
  await (await import("./run.ts")).runAgent(...given);

/** Opens the log that also reports errors of the settings. */
export async function earlyLog(...given: Parameters<typeof import("./early_log.ts").earlyLog>) {
  return (await import("./early_log.ts")).earlyLog(...given);
}

/** `agent bootstrap`: prints Envoy's bootstrap. */
export const runAgentBootstrap: typeof import("./bootstrap/write.ts").runAgentBootstrap = async (...given) =>
  await (await import("./bootstrap/write.ts")).runAgentBootstrap(...given);

/** Returns the flags and variables of `agent`, `agent bootstrap` and `pilot-agent proxy`. */
export async function agentFlags(): Promise<FlagGroups> {
  const { FLAG_GROUPS } = await import("./settings/flags.ts");
  return { ...FLAG_GROUPS, "Environment variables": (await import("./settings/variables.ts")).VARIABLES };
}

/** `pilot-agent request`: sends a request to a port of the proxy and prints the response. */
export const runRequest: typeof import("./request.ts").runRequest = async (...given) =>
  await (await import("./request.ts")).runRequest(...given);

/** Sends a request to the agent of this pod, for `agent quit` and `agent drain`. */
export const messageAgent: typeof import("./request.ts").messageAgent = async (...given) =>
  await (await import("./request.ts")).messageAgent(...given);
