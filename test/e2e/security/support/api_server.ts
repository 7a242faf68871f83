/** An API server that answers as a test says. */
import { testCertificate } from "../../../support/tls/certificates.ts";

/** How the server answers every request. */
export type Answer = (request: Request, ended: AbortSignal) => Response | Promise<Response>;

/** A server, and the kubeconfig that leads to it. */
export interface Served {
  readonly kubeconfig: string;
  /** Its address and port. */
  readonly address: string;
  /** The authority that signed its certificate. */
  readonly authority: string;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Serves over TLS on loopback until it is disposed. */
export async function serveApi(answer: Answer): Promise<Served> {
  const folder = await Deno.makeTempDir({ prefix: "mesh-api-" });
  const end = new AbortController();
  const { certificate, key, authority } = testCertificate();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, cert: certificate, key, onListen: () => {} },
    (request) => answer(request, end.signal),
  );
  const kubeconfig = `${folder}/kubeconfig`;
  const cluster = {
    server: `https://localhost:${server.addr.port}`,
    "certificate-authority-data": btoa(authority),
  };
  const config = {
    clusters: [{ name: "test", cluster }],
    contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    users: [{ name: "test", user: { token: "t" } }],
    "current-context": "test",
  };
  await Deno.writeTextFile(kubeconfig, JSON.stringify(config), { mode: 0o600 });
  return {
    kubeconfig,
    address: `127.0.0.1:${server.addr.port}`,
    authority,
    async [Symbol.asyncDispose]() {
      end.abort();
      await server.shutdown();
      await Deno.remove(folder, { recursive: true });
    },
  };
}
