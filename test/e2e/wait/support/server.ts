/** A stand-in for the proxy's health port and for the agent's status port. */
export interface StandIn extends AsyncDisposable {
  readonly url: string;
  /** Method and path of each request. */
  readonly requests: string[];
}

/** The listening address; by default a free port of 127.0.0.1. */
export interface Place {
  readonly hostname?: string;
  readonly port?: number;
}

/** Serves the answers. A number is a status without a body. */
export function standIn(answer: (path: string, request: Request) => number | Response, place: Place = {}): StandIn {
  const requests: string[] = [];
  const { hostname = "127.0.0.1", port = 0 } = place;
  const server = Deno.serve({ hostname, port, onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    requests.push(`${request.method} ${pathname}${search}`);
    const answered = answer(pathname, request);
    return typeof answered === "number" ? new Response(null, { status: answered }) : answered;
  });
  return {
    url: `http://${hostname}:${server.addr.port}`,
    requests,
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}
