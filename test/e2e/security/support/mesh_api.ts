/** Answers of an API server for the commands that run under strace, and kubeconfigs that lead to it. */
import { BUILT_IN } from "../../../../src/inject/mod.ts";
import type { Answer } from "./api_server.ts";

/** How the client of a kubeconfig connects. */
export interface Client {
  readonly insecure: boolean;
  /** An exec plugin that provides the token. */
  readonly plugin?: string;
}

/** Writes a kubeconfig for the server at an address. */
export async function writeKubeconfig(file: string, address: string, { insecure, plugin }: Client): Promise<void> {
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: plugin, interactiveMode: "Never" };
  await Deno.writeTextFile(
    file,
    JSON.stringify({
      "current-context": "test",
      clusters: [{ name: "test", cluster: { server: `https://${address}`, "insecure-skip-tls-verify": insecure } }],
      users: [{ name: "test", user: plugin === undefined ? { token: "t" } : { exec } }],
      contexts: [{ name: "test", context: { cluster: "test", user: "test" } }],
    }),
  );
}

/** Writes an exec plugin whose token has expired, so that each request needs a new one. `runs` counts its starts. */
export async function writePlugin(path: string) {
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: "t", expirationTimestamp: "2020-01-01T00:00:00Z" },
  };
  await writeScript(path, `echo >> "$0.runs"\necho '${JSON.stringify(credential)}'\n`);
  return { runs: () => Deno.readTextFileSync(`${path}.runs`).length };
}

export async function writeScript(path: string, text: string): Promise<void> {
  await Deno.writeTextFile(path, `#!/bin/sh\n${text}`, { mode: 0o755 });
}

/** Denies every request except those for objects at these paths. */
export function serving(objects: Readonly<Record<string, object>>): Answer {
  return ({ url }) => {
    const object = objects[new URL(url).pathname];
    if (object !== undefined) return Response.json(object);
    return Response.json({ kind: "Status", code: 403, reason: "Forbidden", message: "no" }, { status: 403 });
  };
}

const { config, values, mesh } = BUILT_IN;

/** The ConfigMaps of a control plane. */
export const CONFIGURATION: Readonly<Record<string, object>> = {
  "/api/v1/namespaces/istio-system/configmaps/istio-sidecar-injector": configMap({ config, values }),
  "/api/v1/namespaces/istio-system/configmaps/istio": configMap({ mesh }),
};

function configMap(data: object): object {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "any", namespace: "istio-system" }, data };
}

const ISTIOD = { namespace: "istio-system", name: "istiod" };

/** A webhook that calls a port that its Service does not have. The advice is a harmless command. */
export const WRONG_PORT: Readonly<Record<string, object>> = {
  "/version": { major: "1", minor: "34", gitVersion: "v1.34.0" },
  "/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations": {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "MutatingWebhookConfigurationList",
    metadata: {},
    items: [{
      metadata: { name: "istio-sidecar-injector", labels: { "app": "sidecar-injector", "istio.io/rev": "default" } },
      webhooks: [{
        name: "rev.namespace.sidecar-injector.istio.io",
        clientConfig: { service: { ...ISTIOD, path: "/inject", port: 444 } },
        rules: [{ operations: ["CREATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["pods"] }],
      }],
    }],
  },
  "/api/v1/namespaces/istio-system/services/istiod": {
    apiVersion: "v1",
    kind: "Service",
    metadata: ISTIOD,
    spec: { ports: [{ port: 443 }] },
  },
};
