import type { World } from "../../platform/mod.ts";
import { type Connection, Credentials, READ_AGAIN } from "./connection.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * Returns the connection of a pod with its service account (Kubernetes, "Accessing the Kubernetes API from a Pod").
 * Returns `undefined` outside a pod, and in a pod without a token.
 */
export async function inClusterConnection({ env, files, clock }: World): Promise<Connection | undefined> {
  const [host, port] = [env.get("KUBERNETES_SERVICE_HOST") ?? "", env.get("KUBERNETES_SERVICE_PORT") ?? ""];
  if (host === "" || port === "" || await files.stat(`${ACCOUNT}/token`) === undefined) return undefined;
  const load = async () => {
    const [token, authorities] = await Promise.all([
      files.readText(`${ACCOUNT}/token`),
      files.readText(`${ACCOUNT}/ca.crt`),
    ]);
    const headers = new Headers({ authorization: `Bearer ${token.trim()}` });
    return { credential: { headers, authorities, identity: undefined }, lasts: READ_AGAIN };
  };
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    insecure: false,
    serverName: undefined,
    proxy: undefined,
    credentials: new Credentials(clock, load, true),
    runsPlugin: false,
    namespace: await namespaceOf(files),
    origin: "the service account of this pod",
  };
}

async function namespaceOf(files: World["files"]): Promise<string | undefined> {
  const path = `${ACCOUNT}/namespace`;
  return await files.stat(path) === undefined ? undefined : (await files.readText(path)).trim();
}
