/** HTTP responses, and the routing of requests. */
import { messageOf } from "../../base/errors.ts";
import { type Logger, logText } from "../log.ts";
import type { HttpHandler, ServedExchange } from "../world.ts";

/** `no-transform`: Deno would compress answers for clients that accept it, which costs more than it saves between pods. */
const ALWAYS = { "cache-control": "no-store, no-transform", "x-content-type-options": "nosniff" } as const;

type Fields = Readonly<Record<string, string>>;

/** A line of text. */
export function textAnswer(status: number, text: string, fields: Fields = {}): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "text/plain; charset=utf-8", ...fields } });
}

/** JSON as text. */
export function jsonAnswer(status: number, text: string): Response {
  return new Response(text, { status, headers: { ...ALWAYS, "content-type": "application/json" } });
}

/** The client of a request. */
export interface Client {
  /** Its IP address. */
  readonly remote: string;
  readonly exchange?: ServedExchange | undefined;
}

/** Answers a request; `path` is the path of its URL, not decoded. */
export type Answer = (request: Request, path: string, client: Client) => Response | Promise<Response>;

/** A path, or a prefix that ends in `/`. */
export interface Route {
  readonly path: string;
  /** All methods if absent. */
  readonly methods?: readonly string[];
  readonly answer: Answer;
}

/** The methods of read-only paths. */
export const READING = ["GET", "HEAD"];

/** Answers by a table of routes. A failure is logged and answered with 500; it never stops the server. */
export function router(routes: readonly Route[], log: Logger): HttpHandler {
  return async (request, remote, exchange) => {
    // Deno's server makes the URL from the header Host, whatever that is.
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

/** The path as it was sent: `URL` would change it. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*(\/[^?#]*)/.exec(url)?.[1] ?? "/";
}
