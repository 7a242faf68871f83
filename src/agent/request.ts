import { ClosedPipeError, EXIT, MeshError } from "../base/errors.ts";
import { requestFailure } from "../platform/request_failure.ts";
import type { World } from "../platform/world.ts";

export interface ProxyRequest {
  readonly method: string;
  /** Path with or without a leading slash; may include a query. */
  readonly path: string;
  readonly body: string;
  readonly port: number;
}

/** Timeout of pilot-agent, in milliseconds. */
const TIMEOUT = 60_000;
const MAX_ERROR_BODY = 2000;

/**
 * Prints the response, followed by a line end, as `pilot-agent request` does. Throws a `MeshError` if there is no
 * response, or if the status is 400 or above. Like pilot-agent, accepts 404, because some releases lack some endpoints.
 */
export async function runRequest(world: World, request: ProxyRequest): Promise<number> {
  const url = `http://localhost:${request.port}/${request.path.replace(/^\//, "")}`;
  try {
    return await exchange(world, url, request);
  } catch (error) {
    if (error instanceof MeshError || error instanceof ClosedPipeError) throw error;
    const { kind, text } = requestFailure(error, TIMEOUT);
    throw new MeshError(`Cannot send a request to "${url}": ${text}`, {
      ...kind === "refused" ? { hint: "check that the proxy is running in this pod" } : {},
      cause: error,
    });
  }
}

async function exchange(world: World, url: string, { method, body }: ProxyRequest): Promise<number> {
  const signal = AbortSignal.timeout(TIMEOUT);
  const response = await world.network.request(url, { method, signal, ...body === "" ? {} : { body } });
  if (response.status >= 400 && response.status !== 404) {
    const text = (await response.text()).trim().slice(0, MAX_ERROR_BODY);
    throw new MeshError(`Received unsuccessful status code ${response.status}: ${text === "" ? "no body" : text}`);
  }
  // The admin interface may return many megabytes, so the body is streamed.
  for await (const chunk of response.body ?? []) world.stdout.write(chunk);
  world.stdout.write("\n");
  return EXIT.ok;
}

export interface Message {
  readonly path: string;
  readonly port: number;
  readonly timeout: number;
}

/** Sends a request to the agent. Throws a `MeshError` if there is no response, or if the status is not 2xx. */
export async function messageAgent(world: World, { path, port, timeout }: Message): Promise<number> {
  const url = `http://localhost:${port}/${path}`;
  const { status } = await post(world, url, timeout);
  if (status >= 200 && status < 300) return EXIT.ok;
  throw new MeshError(`The agent rejected "POST ${url}" with status ${status}`, {
    hint: status === 404 ? "an older agent or another program listens on that port" : "see the log of the agent",
  });
}

async function post(world: World, url: string, timeout: number): Promise<Response> {
  try {
    const response = await world.network.request(url, { method: "POST", signal: AbortSignal.timeout(timeout) });
    await response.body?.cancel();
    return response;
  } catch (error) {
    const { kind, text } = requestFailure(error, timeout);
    throw new MeshError(`Cannot send "POST ${url}" to the agent: ${text}`, {
      ...kind === "refused" ? { hint: "check that an agent is running in this pod with this --status-port" } : {},
      cause: error,
    });
  }
}
