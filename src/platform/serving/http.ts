/** HTTP responses, and the routing of requests. */
import { messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../log.ts";
import type { HttpHandler, ServedExchange } from "../world.ts";

/** Header fields of every response. `no-transform` prevents compression by Deno, which costs more than it saves between pods. */
const ALWAYS = { "cache-control": "no-store, no-transform", "x-content-type-options": "nosniff" } as const;

type Fields = Readonly<Record<string, string>>;

/** Returns a plain text response. */
export function textAnswer(status: number, text: string, fields: Fields = {}): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "text/plain; charset=utf-8", ...fields } });
}

/** Returns a JSON response; `text` is the encoded JSON. */
export function jsonAnswer(status: number, text: string): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "application/json" } });
}

export interface Client {
  readonly remote: string;
  readonly exchange?: ServedExchange | undefined;
}

/** Returns the response to a request. `path` is the path of the URL, not decoded. */
export type Answer = (request: Request, path: string, client: Client) => Response | Promise<Response>;

/** A route for a path, or for a prefix that ends in `/`. */
export interface Route {
  readonly path: string;
  /** Allowed methods; all methods if absent. */
  readonly methods?: readonly string[];
  readonly answer: Answer;
}

/** Methods for read-only paths. */
export const READING = ["GET", "HEAD"];

/** Returns a handler for a table of routes. Logs an error in a route and responds with 500. */
export function router(routes: readonly Route[], log: Logger): HttpHandler {
  return async (request, remote, exchange) => {
    // Deno's server builds the URL from the Host header without checking it.
    if (!URL.canParse(request.url)) return textAnswer(400, "invalid Host\n", { connection: "close" });
    const path = pathOf(request.url);
    try {
      return await answer(routes, request, path, { remote, exchange });
    } catch (error) {
      log.error(logText(`Cannot answer ${request.method} "${path}": ${messageOf(error)}`));
      return textAnswer(500, "internal error\n");
    }
  };
}

async function answer(
  routes: readonly Route[],
  request: Request,
  path: string,
  client: Client,
): Promise<Response> {
  const route = routes.find((each) => each.path.endsWith("/") ? path.startsWith(each.path) : path === each.path);
  if (route === undefined) return textAnswer(404, "404 page not found\n");
  if (route.methods?.includes(request.method) === false) {
    return textAnswer(405, "method not allowed\n", { allow: route.methods.join(", ") });
  }
  return await route.answer(request, path, client);
}

/** Returns the path exactly as the client sent it; `URL` would normalize it. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*(\/[^?#]*)/.exec(url)?.[1] ?? "/";
}
