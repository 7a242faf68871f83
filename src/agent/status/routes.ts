/** Routes requests by path, method and client. */
import { refusal, targetOf } from "../http.ts";
import { compressed } from "./compress.ts";
import { isLoopback, parseAddress, unmapped } from "../../golang/net/mod.ts";

/** A path that ends in `/` matches all paths below it. */
export interface Route {
  readonly path: string;
  readonly isLocal?: boolean;
  /** Required method; by default, any method. */
  readonly method?: string;
  readonly answer: (request: Request) => Response | Promise<Response>;
}

/** Returns a handler that routes requests. */
export function router(routes: readonly Route[]) {
  return async (request: Request, remote: string): Promise<Response> => {
    const { path } = targetOf(request.url);
    const route = routes.find((each) => each.path.endsWith("/") ? path.startsWith(each.path) : path === each.path);
    const response = route === undefined ? refusal(404, "404 page not found") : await answer(route, request, remote);
    return await compressed(request, request.method === "HEAD" ? withoutBody(response) : response);
  };
}

/** Answers a request. Checks the client before the method, so that remote clients learn nothing about the route. */
async function answer({ isLocal, method, answer }: Route, request: Request, remote: string): Promise<Response> {
  if (isLocal === true && !isLocalClient(remote)) return refusal(403, "Only requests from localhost are allowed");
  if (method !== undefined && request.method !== method) return refusal(405, "Method Not Allowed");
  return await answer(request);
}

function withoutBody({ body, status, headers }: Response): Response {
  body?.cancel();
  return new Response(null, { status, headers });
}

/** Whether an address is loopback: 127.0.0.0/8 (including IPv4-mapped addresses) or ::1. */
export function isLocalClient(text: string): boolean {
  const address = parseAddress(text);
  return typeof address !== "string" && isLoopback(unmapped(address));
}
