import { MeshError, messageOf } from "../../core/errors.ts";
import { requestFailure } from "../../core/request_failure.ts";
import type { Network } from "../../core/world/world.ts";

/** The answer of an endpoint whose body has not been read yet. */
export interface Scrape {
  /** Ends early, and without an error, when the signal of the request says so. */
  readonly body: ReadableStreamDefaultReader<Uint8Array>;
  readonly contentType: string;
}

/** What an endpoint is asked for, and by whom. */
export interface ScrapeRequest {
  readonly url: string;
  readonly accept: string;
  /** Of the client, of which some fields are passed on. */
  readonly headers: Headers;
  /** Ends the scrape, also while the body is read. */
  readonly signal: AbortSignal;
}

/** Says how long Prometheus will wait. */
export const TIMEOUT_FIELD = "x-prometheus-scrape-timeout-seconds";
const PASSED_ON = ["user-agent", TIMEOUT_FIELD];

/** Asks an endpoint for metrics. Throws a `MeshError` if it cannot be reached or does not answer 200. */
export async function scrape(network: Network, { url, accept, headers, signal }: ScrapeRequest): Promise<Scrape> {
  // What is merged must be plain, and this machine's own network is not slow.
  const fields = new Headers({ accept, "accept-encoding": "identity" });
  for (const name of PASSED_ON) {
    const value = headers.get(name);
    if (value !== null && value !== "") fields.set(name, value);
  }
  const response = await ask(network, url, fields, signal);
  const body = response.body?.getReader();
  if (response.status === 200 && body !== undefined) {
    onAbort(signal, () => void body.cancel().catch(() => {}));
    return { body, contentType: response.headers.get("content-type") ?? "" };
  }
  await body?.cancel();
  throw new MeshError(`Cannot scrape "${url}": the answer was ${response.status}`);
}

/** A signal that ends a fetch whose body is read leaves the connection open: there the reader is cancelled instead. */
async function ask(network: Network, url: string, headers: Headers, signal: AbortSignal): Promise<Response> {
  const asking = new AbortController();
  const stop = () => asking.abort(signal.reason);
  onAbort(signal, stop);
  try {
    return await network.request(url, { headers, signal: asking.signal });
  } catch (error) {
    throw new MeshError(
      `Cannot scrape "${url}": ${signal.aborted ? messageOf(signal.reason) : requestFailure(error, 0).text}`,
      { cause: error },
    );
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The milliseconds that a client gives for a scrape; `undefined` if it does not say, the text if it is no number. */
export function timeoutOf(headers: Headers): number | string | undefined {
  const text = headers.get(TIMEOUT_FIELD);
  if (text === null || text === "") return undefined;
  const seconds = /^\s*\d*\.?\d+(e[+-]?\d+)?\s*$/i.test(text) ? Number(text) : NaN;
  return Number.isNaN(seconds) ? text : Math.min(seconds * 1000, 2 ** 31 - 1);
}

/** Calls the action when the signal is aborted, at once if it is already; not more than once. */
export function onAbort(signal: AbortSignal, action: () => void): void {
  if (signal.aborted) action();
  else signal.addEventListener("abort", action, { once: true });
}
