import { EXIT, MeshError } from "../../core/errors.ts";
import { requestFailure } from "../../core/request_failure.ts";
import type { World } from "../../core/world/world.ts";

/** What the agent of this pod is told, by a POST. */
export interface Message {
  /** Without its first slash. */
  readonly path: string;
  readonly port: number;
  /** Milliseconds. */
  readonly timeout: number;
}

/** Tells the agent of this pod something. Errors: a `MeshError` if it does not answer, or not with 2xx. */
export async function tellAgent(world: World, { path, port, timeout }: Message): Promise<number> {
  const url = `http://localhost:${port}/${path}`;
  const { status } = await post(world, url, timeout);
  if (status >= 200 && status < 300) return EXIT.ok;
  throw new MeshError(`The agent did not take "POST ${url}": it answered ${status}`, {
    hint: status === 404 ? "an older agent, or another program, listens at that port" : "see the log of the agent",
  });
}

async function post(world: World, url: string, timeout: number): Promise<Response> {
  try {
    const response = await world.network.request(url, { method: "POST", signal: AbortSignal.timeout(timeout) });
    await response.body?.cancel();
    return response;
  } catch (error) {
    const { kind, text } = requestFailure(error, timeout);
    throw new MeshError(`Cannot tell the agent "POST ${url}": ${text}`, {
      ...kind === "refused" ? { hint: "is an agent running in this pod, with this --status-port?" } : {},
      cause: error,
    });
  }
}
