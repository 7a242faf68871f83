import { isRuntimeError } from "../../runtime_errors.ts";

/**
 * The answers whose bodies are not at their end. Deno forgets the signal of a request when nobody holds its answer any more
 * (up to 2.9 at least), so a body that is read alone could neither be ended nor time out: with its body each answer is held.
 */
const answers = new WeakMap<ReadableStream<Uint8Array>, Response>();

/**
 * `fetch`, whose errors say what happened: since Deno 2.9 that is in their `cause`, and the error itself says only that it
 * failed. The signal of the request ends the body of its answer too.
 */
export async function realFetch(url: string, init?: RequestInit & { client?: Deno.HttpClient }): Promise<Response> {
  try {
    const answer = await fetch(url, init);
    if (answer.body !== null) answers.set(answer.body, answer);
    return answer;
  } catch (error) {
    const isBare = error instanceof TypeError && isRuntimeError(error, "inCause");
    throw isBare && error.cause instanceof Error ? new TypeError(error.cause.message, { cause: error }) : error;
  }
}
