/**
 * `fetch`, whose errors say what happened: since Deno 2.9 that is in their `cause`, and the error itself says only that it
 * failed.
 */
export async function realFetch(url: string, init?: RequestInit & { client?: Deno.HttpClient }): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    const isBare = error instanceof TypeError && error.message === "fetch failed";
    throw isBare && error.cause instanceof Error ? new TypeError(error.cause.message, { cause: error }) : error;
  }
}
