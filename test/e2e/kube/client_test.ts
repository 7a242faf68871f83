/** The API client with a real API server: credentials, TLS, objects. */
import assert from "node:assert/strict";
import { connect, type KubeConnection } from "../../../src/kube/client/mod.ts";
import { realWorld } from "../../../src/platform/mod.ts";
import { testWhen } from "../../support/test_when.ts";
import { type Cluster, needsCluster, startCluster } from "../support/cluster/cluster.ts";

const MAPS = "/api/v1/namespaces/default/configmaps";

testWhen(needsCluster(), "the client connects as the kubeconfig says", async (t) => {
  const cluster = await startCluster();
  const folder = await Deno.makeTempDir({ prefix: "mesh-client-" });
  try {
    for (const [name, { entries, user }] of Object.entries(await kubeconfigsOf(cluster, folder))) {
      await t.step(name, () => asksAs(user, entries, folder));
    }
    await t.step("another authority is not trusted", () => distrusts(cluster, folder));
    await t.step("a token in a file may change", () => readsTokenAgain(cluster, folder));
    await t.step("objects are made, changed, listed and removed", () => changesObjects(cluster));
  } finally {
    await Deno.remove(folder, { recursive: true });
    await cluster.stop();
  }
});

/** Fields of a kubeconfig's cluster and user. */
interface Entries {
  readonly cluster: Readonly<Record<string, unknown>>;
  readonly user: Readonly<Record<string, unknown>>;
}

async function kubeconfigsOf(
  cluster: Cluster,
  folder: string,
): Promise<Record<string, { entries: Entries; user: string }>> {
  const server = await serverOf(cluster);
  const authority = await cluster.authority();
  const { certificate, key } = cluster.client;
  const trust = { server, "certificate-authority-data": btoa(authority) };
  const own = { "client-certificate-data": btoa(certificate), "client-key-data": btoa(key) };
  const token = { token: "e2e-admin" };
  const insecure = { server, "insecure-skip-tls-verify": true };
  const named = { ...trust, "tls-server-name": "kubernetes.default.svc" };
  await Deno.writeTextFile(`${folder}/ca.crt`, authority);
  await Deno.writeTextFile(`${folder}/own.crt`, certificate);
  await Deno.writeTextFile(`${folder}/own.key`, key);
  const files = { "client-certificate": "own.crt", "client-key": "own.key" };
  const apiVersion = "client.authentication.k8s.io/v1";
  const status = { clientCertificateData: certificate, clientKeyData: key };
  const credential = JSON.stringify({ apiVersion, kind: "ExecCredential", status });
  await Deno.writeTextFile(`${folder}/plugin`, `#!/bin/sh\ncat <<'END'\n${credential}\nEND\n`, { mode: 0o755 });
  const plugin = { exec: { apiVersion, command: "./plugin", interactiveMode: "Never" } };
  return {
    "a token": { entries: { cluster: trust, user: token }, user: "admin" },
    "a certificate": { entries: { cluster: trust, user: own }, user: "server" },
    "files": { entries: { cluster: { server, "certificate-authority": "ca.crt" }, user: files }, user: "server" },
    "a plugin that gives a certificate": { entries: { cluster: trust, user: plugin }, user: "server" },
    "another name of the server": { entries: { cluster: named, user: token }, user: "admin" },
    "another name, with a certificate": { entries: { cluster: named, user: own }, user: "server" },
    "no verification": { entries: { cluster: insecure, user: token }, user: "admin" },
    "no verification, with a certificate": { entries: { cluster: insecure, user: own }, user: "server" },
    "impersonation": {
      entries: { cluster: trust, user: { ...token, as: "joe", "as-groups": ["a", "b"] } },
      user: "joe",
    },
  };
}

async function serverOf(cluster: Cluster): Promise<string> {
  return JSON.parse(await Deno.readTextFile(cluster.kubeconfig)).clusters[0].cluster.server;
}

async function open({ cluster, user }: Entries, folder: string): Promise<KubeConnection> {
  const kubeconfig = `${folder}/kubeconfig`;
  const config = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await Deno.writeTextFile(kubeconfig, JSON.stringify(config));
  return await connect(realWorld(), { kubeconfig });
}

/** Errors of other users name the user. */
async function asksAs(user: string, entries: Entries, folder: string): Promise<void> {
  const api = await open(entries, folder);
  try {
    const found = api.get("/api/v1/namespaces/default");
    if (user === "admin") assert.equal((await found)?.kind, "Namespace");
    else await assert.rejects(found, { status: 403, message: new RegExp(`User "${user}" cannot get resource`) });
  } finally {
    api.close();
  }
}

async function distrusts(cluster: Cluster, folder: string): Promise<void> {
  const server = await serverOf(cluster);
  const data = btoa(cluster.client.authority);
  const name = { "tls-server-name": "other.test", "certificate-authority-data": btoa(await cluster.authority()) };
  for (const trust of [{ "certificate-authority-data": data }, { ...name }, {}]) {
    const api = await open({ cluster: { server, ...trust }, user: {} }, folder);
    await assert.rejects(api.get(MAPS), { name: "ApiError", message: /cannot be reached: .*certificate/ });
    api.close();
  }
}

async function readsTokenAgain(cluster: Cluster, folder: string): Promise<void> {
  const insecure = { server: await serverOf(cluster), "insecure-skip-tls-verify": true };
  await Deno.writeTextFile(`${folder}/token`, "e2e-admin\n");
  const api = await open({ cluster: insecure, user: { tokenFile: "token" } }, folder);
  await api.list(MAPS);
  await Deno.writeTextFile(`${folder}/token`, "nobody\n");
  const other = await open({ cluster: insecure, user: { tokenFile: "token" } }, folder);
  await assert.rejects(other.list(MAPS), { status: 401 });
  await Deno.writeTextFile(`${folder}/token`, "e2e-admin\n");
  await other.list(MAPS);
  api.close();
  other.close();
}

function map(name: string, data: Record<string, string> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

async function changesObjects(cluster: Cluster): Promise<void> {
  const api = await connect(realWorld(), { kubeconfig: cluster.kubeconfig });
  const made = await api.create(MAPS, map("a", { x: "1" }));
  await assert.rejects(api.create(MAPS, map("a")), { name: "ConflictError" });
  await api.patch(`${MAPS}/a`, "merge", { data: { y: "2" } });
  await api.patch(`${MAPS}/a`, "json", [{ op: "add", path: "/data/z", value: "3" }]);
  await api.patch(`${MAPS}/a`, "strategic", { data: { x: null } });
  await api.patch(`${MAPS}/a`, "apply", map("a", { w: "4" }), { fieldManager: "test" });
  assert.deepEqual((await api.get(`${MAPS}/a`))?.["data"], { w: "4", y: "2", z: "3" });
  await assert.rejects(api.replace(`${MAPS}/a`, made), { name: "ConflictError" });
  const { items } = await api.list(MAPS);
  assert.deepEqual(items.map(({ kind, metadata }) => `${kind} ${metadata.name}`), ["ConfigMap a"]);
  assert.deepEqual([await api.remove(`${MAPS}/a`), await api.remove(`${MAPS}/a`)], [true, false]);
  api.close();
}
