import { isRuntimeError } from "../../runtime_errors.ts";
import { emptyDefaultStore } from "./trust.ts";

/**
 * Keeps each Response alive as long as its body. Deno (2.6 to 2.9) drops the signal of a request when its Response is
 * collected as garbage: the body could then neither be aborted nor time out.
 */
const responses = new WeakMap<ReadableStream<Uint8Array>, Response>();

/**
 * `fetch` with two differences: the signal also ends the body of the response, and the message of an error includes the
 * reason (Deno 2.9 puts the reason into the error's `cause`).
 */
export async function realFetch(url: string, init?: RequestInit & { client?: Deno.HttpClient }): Promise<Response> {
  emptyDefaultStore();
  try {
    const response = await fetch(url, init);
    if (response.body !== null) responses.set(response.body, response);
    return response;
  } catch (error) {
    const isBare = error instanceof TypeError && isRuntimeError(error, "inCause");
    throw isBare && error.cause instanceof Error ? new TypeError(error.cause.message, { cause: error }) : error;
  }
}
