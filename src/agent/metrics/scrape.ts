import { MeshError, messageOf } from "../../base/errors.ts";
import { requestFailure } from "../../platform/request_failure.ts";
import type { Network } from "../../platform/world.ts";

export interface Scrape {
  /** The response's body, which ends without an error when `reading` fires. */
  readonly body: ReadableStreamDefaultReader<Uint8Array>;
  readonly contentType: string;
}

export interface ScrapeRequest {
  readonly url: string;
  readonly accept: string;
  /** The client's headers. Some headers are passed on. */
  readonly headers: Headers;
  /** Ends the wait for the headers. */
  readonly asking: AbortSignal;
  /** Ends the body. */
  readonly reading: AbortSignal;
}

const TIMEOUT_FIELD = "x-prometheus-scrape-timeout-seconds";
const PASSED_ON = ["user-agent", TIMEOUT_FIELD];

/** Requests an endpoint's metrics. Throws a `MeshError` on failure or a status other than 200. */
export async function scrape(network: Network, request: ScrapeRequest): Promise<Scrape> {
  const { url, accept, headers, asking, reading } = request;
  // Merging needs uncompressed text, and loopback is fast.
  const fields = new Headers({ accept, "accept-encoding": "identity" });
  for (const name of PASSED_ON) {
    const value = headers.get(name);
    if (value !== null && value !== "") fields.set(name, value);
  }
  const response = await ask(network, url, fields, asking);
  const body = response.body?.getReader();
  if (response.status === 200 && body !== undefined) {
    onAbort(reading, () => void body.cancel().catch(() => {}));
    return { body, contentType: response.headers.get("content-type") ?? "" };
  }
  await body?.cancel();
  throw new MeshError(`Cannot scrape "${url}": the endpoint returned status ${response.status}`);
}

/** Maximum number of redirects, as in Go's HTTP client. */
const MAX_REDIRECTS = 10;
const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308];

/**
 * Follows redirects within the same host and port. Otherwise, an application could make the agent send requests to
 * Envoy's admin interface or a cloud's metadata server.
 */
async function following(network: Network, start: string, init: RequestInit): Promise<Response> {
  let url = start;
  for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
    const response = await network.request(url, init);
    const location = response.headers.get("location");
    if (!REDIRECTS.includes(response.status) || location === null) return response;
    await response.body?.cancel();
    const to = URL.parse(location, url);
    if (to?.origin !== new URL(start).origin) {
      throw new MeshError("The endpoint redirects to another host or port, which the agent does not follow");
    }
    url = to.href;
  }
  throw new MeshError(`The endpoint redirects more than ${MAX_REDIRECTS} times`);
}

/**
 * Sends a request. The signal ends only the wait for the headers. To stop reading the body, cancel its reader: aborting
 * the fetch would leave the connection open.
 */
async function ask(network: Network, url: string, headers: Headers, signal: AbortSignal): Promise<Response> {
  const asking = new AbortController();
  const stop = () => asking.abort(signal.reason);
  onAbort(signal, stop);
  try {
    return await following(network, url, { headers, signal: asking.signal, redirect: "manual" });
  } catch (error) {
    throw new MeshError(
      `Cannot scrape "${url}": ${signal.aborted ? messageOf(signal.reason) : requestFailure(error, 0).text}`,
      { cause: error },
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** Returns the client's timeout in milliseconds; `undefined` if absent, the text if invalid. */
export function timeoutOf(headers: Headers): number | string | undefined {
  const text = headers.get(TIMEOUT_FIELD);
  if (text === null || text === "") return undefined;
  const seconds = /^\s*(?:\d+(?:\.\d+)?|\.\d+)(?:e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN;
  return Number.isNaN(seconds) ? text : Math.min(seconds * 1000, 2 ** 31 - 1);
}

/** Calls `action` once when the signal aborts, or immediately if it has already aborted. */
export function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
}
