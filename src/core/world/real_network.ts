import { MeshError, messageOf } from "../errors.ts";
import type { HttpHandler, HttpServer, Network, ServeOptions } from "./world.ts";

/** The network, through Deno. */
export const realNetwork: Network = {
  interfaces: () => Deno.networkInterfaces().map(({ name, family, address }) => ({ name, family, address })),
  async fetch(url) {
    const response = await getOnce(url);
    if (!response.ok || response.body === null) {
      await response.body?.cancel();
      throw new MeshError(`Cannot read "${url}": the server answered ${response.status} ${response.statusText}`.trim());
    }
    return response.body;
  },
  request: (url, init) => fetch(url, init),
  serve,
};

async function getOnce(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(30_000) });
  } catch (error) {
    throw new MeshError(`Cannot read "${url}": ${messageOf(error)}`, { cause: error });
  }
}

async function serve({ hostname, port }: ServeOptions, handler: HttpHandler): Promise<HttpServer> {
  try {
    const { promise: listening, resolve } = Promise.withResolvers<number>();
    const server = Deno.serve(
      { hostname, port, onListen: (address) => resolve(address.port) },
      (request, { remoteAddr }) => handler(request, "hostname" in remoteAddr ? remoteAddr.hostname : ""),
    );
    return { port: await listening, close: () => server.shutdown() };
  } catch (error) {
    throw new MeshError(`Cannot serve on ${hostname}:${port}: ${messageOf(error)}`, { cause: error });
  }
}
