/** Routing by path, method and client. */
import { refusal, targetOf } from "../http.ts";
import { compressed } from "./compress.ts";
import { parseAddress } from "../../golang/net/mod.ts";

/** Matches one path, or all paths below one that ends in `/`. */
export interface Route {
  readonly path: string;
  /** Only for clients on this machine. */
  readonly isLocal?: boolean;
  /** The only method; default: any. */
  readonly method?: string;
  readonly answer: (request: Request) => Response | Promise<Response>;
}

/** Routes requests. */
export function router(routes: readonly Route[]) {
  return async (request: Request, remote: string): Promise<Response> => {
    const { path } = targetOf(request.url);
    const route = routes.find((each) => each.path.endsWith("/") ? path.startsWith(each.path) : path === each.path);
    const response = route === undefined ? refusal(404, "404 page not found") : await answer(route, request, remote);
    return await compressed(request, request.method === "HEAD" ? withoutBody(response) : response);
  };
}

/** The client is checked before the method: strangers learn nothing. */
async function answer({ isLocal, method, answer }: Route, request: Request, remote: string): Promise<Response> {
  if (isLocal === true && !isLoopback(remote)) return refusal(403, "Only requests from localhost are allowed");
  if (method !== undefined && request.method !== method) return refusal(405, "Method Not Allowed");
  return await answer(request);
}

function withoutBody({ body, status, headers }: Response): Response {
  body?.cancel();
  return new Response(null, { status, headers });
}

const MAPPED = 0xffffn << 32n;

/** Whether an address is loopback: 127.0.0.0/8, also IPv4-mapped, or ::1. */
export function isLoopback(text: string): boolean {
  const address = parseAddress(text);
  if (typeof address === "string") return false;
  const { family, value } = address;
  const isMapped = family === 6 && value >> 32n === MAPPED >> 32n;
  if (family === 4 || isMapped) return (value & 0xffffffffn) >> 24n === 127n;
  return value === 1n;
}
