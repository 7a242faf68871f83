import type { World } from "../../world/mod.ts";
import type { ConnectionSettings } from "./connection.ts";

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

/**
 * The connection that a pod has by its service account (Kubernetes, "Accessing the Kubernetes API from a Pod");
 * `undefined` outside a pod, or in one without a token.
 */
export async function inClusterSettings({ env, files }: World): Promise<ConnectionSettings | undefined> {
  const [host, port] = [env.get("KUBERNETES_SERVICE_HOST") ?? "", env.get("KUBERNETES_SERVICE_PORT") ?? ""];
  if (host === "" || port === "" || await files.facts(`${ACCOUNT}/token`) === undefined) return undefined;
  return {
    server: `https://${host.includes(":") ? `[${host}]` : host}:${port}`,
    authorities: { file: `${ACCOUNT}/ca.crt` },
    token: { file: `${ACCOUNT}/token` },
    namespace: await namespaceOf(files),
    origin: "the service account of this pod",
    ...NOTHING_ELSE,
  };
}

const NOTHING_ELSE = {
  insecure: false,
  serverName: undefined,
  proxy: undefined,
  certificate: undefined,
  key: undefined,
  basic: undefined,
  exec: undefined,
  impersonation: undefined,
} as const;

async function namespaceOf(files: World["files"]): Promise<string | undefined> {
  const path = `${ACCOUNT}/namespace`;
  return await files.facts(path) === undefined ? undefined : (await files.readText(path)).trim();
}
