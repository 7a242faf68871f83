import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../world/mod.ts";
import { connect } from "./connect.ts";
import type { ConnectOptions } from "./connection.ts";
import { settingsOf } from "./kubeconfig.ts";
import { readKubeconfig } from "./kubeconfig_files.ts";

const CONFIG = `apiVersion: v1
kind: Config
current-context: one
clusters:
- name: a
  cluster:
    server: https://a.test:6443/
    certificate-authority: pki/ca.crt
    tls-server-name: kubernetes
- name: b
  cluster:
    server: http://b.test/k8s
    certificate-authority-data: Q0E=
    insecure-skip-tls-verify: true
    proxy-url: socks5://proxy.test:1080
users:
- name: ada
  user: {client-certificate-data: Q0VSVA==, client-key: /keys/ada.key, as: root, as-groups: [x, w], as-user-extra: {why: [z]}}
- name: bob
  user: {token: old, tokenFile: token}
- name: eve
  user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: ./sign-in, args: [-x], env: [{name: A, value: "1"}]}}
contexts:
- name: one
  context: {cluster: a, user: ada, namespace: web}
- name: two
  context: {cluster: b, user: bob}
- name: lost
  context: {cluster: none, user: bob}
`;

async function settings(options: ConnectOptions, world: FakeWorldOptions = {}) {
  const files = { "/home/ada/.kube/config": CONFIG };
  const config = await readKubeconfig(fakeWorld({ env: { HOME: "/home/ada" }, files, ...world }), options.kubeconfig);
  assert.ok(config !== undefined);
  return settingsOf(config, options);
}

Deno.test("settingsOf() takes the current context, and paths from the folder of the file", async () => {
  const found = await settings({});
  assert.equal(found.server, "https://a.test:6443");
  assert.deepEqual(found.authorities, { file: "/home/ada/.kube/pki/ca.crt" });
  assert.deepEqual([found.certificate, found.key], [{ text: "CERT" }, { file: "/keys/ada.key" }]);
  assert.deepEqual([found.serverName, found.namespace, found.insecure], ["kubernetes", "web", false]);
  assert.deepEqual(found.impersonation, { user: "root", uid: undefined, groups: ["x", "w"], extra: { why: ["z"] } });
});

Deno.test("settingsOf() takes another context, its cluster and its user", async () => {
  const found = await settings({ context: "two" });
  assert.deepEqual([found.server, found.proxy, found.insecure], [
    "http://b.test/k8s",
    "socks5://proxy.test:1080",
    true,
  ]);
  assert.deepEqual([found.authorities, found.token], [{ text: "CA" }, { file: "/home/ada/.kube/token" }]);
  const mixed = await settings({ context: "two", cluster: "a", user: "eve" });
  assert.equal(mixed.server, "https://a.test:6443");
  assert.deepEqual(mixed.exec, {
    apiVersion: "client.authentication.k8s.io/v1",
    command: "/home/ada/.kube/./sign-in",
    args: ["-x"],
    env: { A: "1" },
    installHint: undefined,
    provideClusterInfo: false,
    needsTerminal: false,
  });
});

Deno.test("settingsOf() names what there is in place of what is not", async () => {
  await assert.rejects(settings({ context: "three" }), {
    message: 'There is no context "three" in the kubeconfig',
    hint: 'it has "one", "two", "lost"',
  });
  await assert.rejects(settings({ context: "lost" }), { message: 'There is no cluster "none" in the kubeconfig' });
  await assert.rejects(settings({ user: "joe" }), { hint: 'it has "ada", "bob", "eve"' });
});

const BROKEN: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  "no mapping": ["- x", /^This is no kubeconfig/],
  "no list": ["clusters: {}", /^"clusters" must be a list$/],
  "no current context": ["contexts: [{name: x, context: {}}]", /has no current context$/],
  "no server": [context("server: a.test"), /^The server "a.test" is no http or https URL$/],
  "a proxy that is none": [context("server: https://a, proxy-url: 'ftp://x'"), /^The proxy of the cluster is no/],
  "data that is no base64": [
    context("server: https://a, certificate-authority-data: '%'"),
    /^"certificate-authority-data" is not base64$/,
  ],
  "a provider of old": [
    context("server: https://a", "auth-provider: {name: gcp}"),
    /signs in by the auth-provider "gcp"$/,
  ],
  "a plugin without command": [context("server: https://a", "exec: {args: []}"), /^The exec plugin has no command$/],
};

function context(cluster: string, user = ""): string {
  return `clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
}

for (const [name, [text, message]] of Object.entries(BROKEN)) {
  Deno.test(`settingsOf() refuses ${name}`, async () => {
    await assert.rejects(settings({ kubeconfig: "k" }, { files: { k: text } }), { name: "MeshError", message });
  });
}

Deno.test("KUBECONFIG lists files: the first that names something wins, those that are not there do not count", async () => {
  const files = { "/a/k": "current-context: two", "/b/k": CONFIG, "/c/k": context("server: https://late.test") };
  const world = { env: { KUBECONFIG: "/none:/a/k:/b/k:/c/k" }, files };
  const found = await settings({}, world);
  assert.deepEqual([found.server, found.token], ["http://b.test/k8s", { file: "/b/token" }]);
});

const ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

Deno.test("connect() in a pod uses its service account, and reads the token again when it is refused", async () => {
  const asked: (readonly [url: string, authorization: string | null])[] = [];
  const world = fakeWorld({
    env: { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" },
    files: {
      [`${ACCOUNT}/token`]: "first\n",
      [`${ACCOUNT}/ca.crt`]: "CA",
      [`${ACCOUNT}/namespace`]: "istio-system",
    },
    client: (options) => assert.equal(options.authorities, "CA"),
    request(url, init) {
      const authorization = new Headers(init?.headers).get("authorization");
      asked.push([url, authorization]);
      world.content.set(`${ACCOUNT}/token`, new TextEncoder().encode("second"));
      const isRefused = authorization === "Bearer first";
      return new Response(isRefused ? "{}" : '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"x"}}', {
        status: isRefused ? 401 : 200,
      });
    },
  });
  const api = await connect(world);
  assert.equal(api.namespace, "istio-system");
  assert.equal((await api.get("/x"))?.metadata.name, "x");
  assert.deepEqual(asked, [["https://[fd00::1]:443/x", "Bearer first"], ["https://[fd00::1]:443/x", "Bearer second"]]);
});

Deno.test("connect() says where it looked if there is no cluster", async () => {
  await assert.rejects(connect(fakeWorld()), { message: /^No cluster is configured/ });
});
