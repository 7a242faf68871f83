/** Which path is answered by whom. */
import { type Logger, logText } from "../../core/log.ts";
import { messageOf } from "../../core/errors.ts";
import type { HttpHandler } from "../../core/world/world.ts";
import { textAnswer } from "./http.ts";

/** Answers a request; `path` is that of its URL, as it came. */
export type Answer = (request: Request, path: string) => Response | Promise<Response>;

/** One path, or all that begin with one that ends in `/`. */
export interface Route {
  readonly path: string;
  /** Any if it is left out. */
  readonly methods?: readonly string[];
  readonly answer: Answer;
}

/** What may be asked of paths that only tell something. */
export const READING = ["GET", "HEAD"];

/** Answers by a table of routes; what fails is answered and logged, and never ends the server. */
export function router(routes: readonly Route[], log: Logger): HttpHandler {
  return async (request) => {
    const path = pathOf(request.url);
    try {
      return await answer(routes, request, path);
    } catch (error) {
      log.error(logText(`Answering ${request.method} "${path}" failed: ${messageOf(error)}`));
      return textAnswer(500, "internal error\n");
    }
  };
}

async function answer(routes: readonly Route[], request: Request, path: string): Promise<Response> {
  const route = routes.find((each) => each.path.endsWith("/") ? path.startsWith(each.path) : path === each.path);
  if (route === undefined) return textAnswer(404, "404 page not found\n");
  if (route.methods?.includes(request.method) === false) {
    return textAnswer(405, "method not allowed\n", { allow: route.methods.join(", ") });
  }
  return await route.answer(request, path);
}

/** A URL of Deno's server begins with scheme and host; a host that is none must not fail. */
function pathOf(url: string): string {
  return /^[a-z]+:\/\/[^/?#]*(\/[^?#]*)/.exec(url)?.[1] ?? "/";
}
