/**
 * The proxy's side of a pod: the agent that runs Envoy, and what is said to an agent that runs. Settings or a request in,
 * an exit code out. Each command is loaded when it runs.
 */
import type { World } from "../core/world/world.ts";
import type { ProxyRequest } from "./request/request.ts";
import type { Message } from "./request/tell.ts";

/** `pilot-agent request`: asks a port of the proxy and prints the answer. */
export async function runRequest(world: World, request: ProxyRequest): Promise<number> {
  return await (await import("./request/request.ts")).runRequest(world, request);
}

/** `agent quit` and `agent drain`: tells the agent of this pod something. */
export async function tellAgent(world: World, message: Message): Promise<number> {
  return await (await import("./request/tell.ts")).tellAgent(world, message);
}
