/** A proxy in front of the API server that delays, changes or aborts responses. */
import type { Cluster } from "../../support/cluster/cluster.ts";

/** What the proxy does with requests and responses. */
export interface Between {
  /** Delay of each request, in milliseconds. */
  readonly delay?: number;
  /** Called before each request. If it returns a response, the server does not get the request. */
  readonly before?: (request: Request) => Response | undefined | Promise<Response | undefined>;
  /** Changes the response. */
  readonly after?: (response: Response, path: string) => Response | Promise<Response>;
}

/** A running proxy. */
export interface Proxy {
  readonly kubeconfig: string;
  /** The paths of the requests so far. */
  readonly asked: readonly string[];
  close(): Promise<void>;
}

/** Starts a proxy on a loopback port, with a kubeconfig that leads to it. */
export async function startBetween(cluster: Cluster, between: Between): Promise<Proxy> {
  const config = JSON.parse(await Deno.readTextFile(cluster.kubeconfig));
  const upstream: string = config.clusters[0].cluster.server;
  const client = Deno.createHttpClient({ caCerts: [await cluster.authority()] });
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(pathname);
    await new Promise((resolve) => setTimeout(resolve, between.delay ?? 0));
    const own = await between.before?.(request);
    if (own !== undefined) return own;
    const { method, headers, body } = request;
    const answer = await fetch(upstream + pathname + search, { method, headers, body, client }).catch(() => undefined);
    if (answer === undefined) return new Response("the server is gone", { status: 502 });
    const plain = new Response(answer.body, { status: answer.status, headers: withoutEncoding(answer.headers) });
    return await between.after?.(plain, pathname) ?? plain;
  });
  const cluster2 = { server: `http://127.0.0.1:${server.addr.port}` };
  const kubeconfig = `${cluster.kubeconfig}-between-${server.addr.port}`;
  await Deno.writeTextFile(
    kubeconfig,
    JSON.stringify({ ...config, clusters: [{ name: config.clusters[0].name, cluster: cluster2 }] }),
  );
  return {
    kubeconfig,
    asked,
    async close() {
      await server.shutdown();
      client.close();
    },
  };
}

/** Removes the headers about encodings, which fetch has already decoded. */
function withoutEncoding(headers: Headers): Headers {
  const kept = new Headers(headers);
  for (const name of ["content-encoding", "content-length", "transfer-encoding"]) kept.delete(name);
  return kept;
}
