import assert from "node:assert/strict";
import { fakeWorld, type FakeWorldOptions } from "../../../test/support/fake_world.ts";
import { connect } from "./connect.ts";
import type { ConnectOptions } from "./connection.ts";
import { kubeconfigConnection } from "./from_kubeconfig.ts";

const PEM = "-----BEGIN CERTIFICATE-----\n";

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
    certificate-authority-data: ${btoa(`${PEM}CA`)}
    insecure-skip-tls-verify: true
    proxy-url: socks5://proxy.test:1080
users:
- name: ada
  user: {client-certificate-data: ${
  btoa(`${PEM}CERT`)
}, client-key: /keys/ada.key, as: root, as-groups: [x, w], as-user-extra: {why: [z]}}
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

const FILES = {
  "/home/ada/.kube/config": CONFIG,
  "/home/ada/.kube/pki/ca.crt": `${PEM}file`,
  "/keys/ada.key": `${PEM}key`,
  "/home/ada/.kube/token": "from-file\n",
};

async function open(options: ConnectOptions, world: FakeWorldOptions = {}) {
  const fake = fakeWorld({ env: { HOME: "/home/ada" }, files: FILES, ...world });
  return {
    world: fake,
    connection: await kubeconfigConnection(fake, [options.kubeconfig ?? "/home/ada/.kube/config"], options),
  };
}

Deno.test("a kubeconfig gives the current context, and files from its own folder", async () => {
  const { connection } = await open({});
  assert.equal(connection.server, "https://a.test:6443");
  assert.deepEqual([connection.serverName, connection.namespace, connection.insecure], ["kubernetes", "web", false]);
  const { authorities, identity, headers } = await connection.credentials.current();
  assert.equal(authorities, `${PEM}file`);
  assert.deepEqual(identity, { certificate: `${PEM}CERT`, key: `${PEM}key` });
  assert.deepEqual([...headers], [
    ["impersonate-extra-why", "z"],
    ["impersonate-group", "x, w"],
    ["impersonate-user", "root"],
  ]);
});

Deno.test("a kubeconfig gives another context, its cluster and its user", async () => {
  const { connection } = await open({ context: "two" });
  assert.deepEqual([connection.server, connection.proxy, connection.insecure], [
    "http://b.test/k8s",
    "socks5://proxy.test:1080",
    true,
  ]);
  const { authorities, headers } = await connection.credentials.current();
  assert.deepEqual([authorities, headers.get("authorization")], [`${PEM}CA`, "Bearer from-file"]);
});

Deno.test("cluster and user may differ from the context's; a plugin is found beside the kubeconfig", async () => {
  // Some plugins print empty fields for what they do not give.
  const status = JSON.stringify({ status: { token: "t", clientCertificateData: "", clientKeyData: "" } });
  const run = () => ({ code: 0, stdout: status, stderr: "", timedOut: false });
  const { connection, world } = await open({ context: "two", cluster: "a", user: "eve" }, { run });
  assert.deepEqual([connection.server, connection.runsPlugin], ["https://a.test:6443", true]);
  const { headers, identity } = await connection.credentials.current();
  assert.deepEqual([headers.get("authorization"), identity], ["Bearer t", undefined]);
  const [plugin] = world.runs;
  assert.deepEqual([plugin?.command, plugin?.args, plugin?.env?.["A"]], ["/home/ada/.kube/./sign-in", ["-x"], "1"]);
});

Deno.test("a password is sent as UTF-8, a context without a user trusts the cluster's authority", async () => {
  const ca = `certificate-authority-data: ${btoa(PEM)}`;
  const text = context(`server: https://a, ${ca}`, "username: ada, password: käse");
  const { connection } = await open({ kubeconfig: "k" }, { files: { k: text } });
  const { headers, authorities } = await connection.credentials.current();
  assert.deepEqual([headers.get("authorization"), authorities], ["Basic YWRhOmvDpHNl", PEM]);
  const nobody = text.replace(", user: u", "");
  const { connection: other } = await open({ kubeconfig: "k" }, { files: { k: nobody } });
  const credential = await other.credentials.current();
  assert.deepEqual([[...credential.headers], credential.authorities], [[], PEM]);
});

Deno.test("user and password in the server's URL are sent as kubectl does, and are in no message", async () => {
  const server = "https://ad%40m:p%20w@a.test:6443/k8s/?token=q";
  for (const user of ["", "token: t", "username: ada, password: other"]) {
    const { connection } = await open({ kubeconfig: "k" }, { files: { k: context(`server: "${server}"`, user) } });
    const { headers } = await connection.credentials.current();
    assert.deepEqual([connection.server, headers.get("authorization")], [
      "https://a.test:6443/k8s",
      `Basic ${btoa("ad@m:p w")}`,
    ]);
  }
  const { connection } = await open({ server: "eve:secret@b.test" });
  const { headers } = await connection.credentials.current();
  assert.deepEqual([connection.server, headers.get("authorization")], [
    "https://b.test",
    `Basic ${btoa("eve:secret")}`,
  ]);
  for (const wrong of ["https://u:secret%zz@a.test", "ftp://u:secret@a.test?secret"]) {
    await assert.rejects(open({ server: wrong }), {
      message: /^The server "\w+:\/\/a\.test[^"@]*" of the cluster "a" is/,
    });
  }
});

Deno.test("OIDC: a valid token is sent; what prevents its renewal is an error that names the user", async () => {
  const token = (exp: number) => `${btoa("{}")}.${btoa(JSON.stringify({ exp }))}.x`;
  const user = (exp: number) =>
    `auth-provider: {name: oidc, config: {id-token: ${
      token(exp)
    }, refresh-token: r, client-id: c, idp-issuer-url: "http://o"}}`;
  const { connection } = await open({ kubeconfig: "k" }, { files: { k: context("server: https://a", user(9e9)) } });
  const { headers } = await connection.credentials.current();
  assert.equal(headers.get("authorization"), `Bearer ${token(9e9)}`);
  const { connection: old } = await open({ kubeconfig: "k" }, { files: { k: context("server: https://a", user(5)) } });
  await assert.rejects(old.credentials.current(), {
    message: /^The user "u" cannot sign in with OIDC: only requests to HTTPS/,
  });
});

Deno.test("a missing context, cluster or user is an error that lists the existing ones", async () => {
  await assert.rejects(open({ context: "three" }), {
    message: 'The kubeconfig has no context "three" with a cluster',
    hint: 'the kubeconfig has "one", "two", "lost"',
  });
  await assert.rejects(open({ context: "lost" }), { message: 'The kubeconfig has no cluster "none" with a server' });
  await assert.rejects(open({ user: "joe" }), {
    message: 'The kubeconfig has no user "joe"',
    hint: 'the kubeconfig has "ada", "bob", "eve"',
  });
});

const BROKEN: Readonly<Record<string, readonly [text: string, message: RegExp]>> = {
  "no mapping": ["- x", /^The file is not a kubeconfig/],
  "no list": ["clusters: {}\ncurrent-context: x", /has no context "x" with a cluster$/],
  "no current context": ["contexts: [{name: x, context: {cluster: c}}]", /has no current context$/],
  "no server": [context("server: a.test"), /^The server "a.test" of the cluster "c" is not an http or https URL$/],
  "no scheme, but a password": [context("server: u:secret@a.test"), /^The server "a.test" of the cluster/],
  "an unusable proxy": [context("server: https://a, proxy-url: 'ftp://x'"), /^The proxy-url of the cluster "c" is not/],
  "a removed provider": [
    context("server: https://a", "auth-provider: {name: gcp}"),
    /^The user "u" signs in with the auth-provider "gcp"$/,
  ],
  "a plugin without command": [
    context("server: https://a", "exec: {args: []}"),
    /^The exec plugin of the user "u" has no command$/,
  ],
  "a plugin with wrong arguments": [
    context("server: https://a", "exec: {command: x, args: [1]}"),
    /has an invalid field "args.0"$/,
  ],
  "data that is not PEM": [
    context("server: https://a, certificate-authority-data: '%'"),
    /^The certificate-authority of the kubeconfig is not PEM$/,
  ],
};

function context(cluster: string, user = ""): string {
  return `clusters: [{name: c, cluster: {${cluster}}}]
users: [{name: u, user: {${user}}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
`;
}

for (const [name, [text, message]] of Object.entries(BROKEN)) {
  Deno.test(`a kubeconfig is refused for ${name}`, async () => {
    const used = async () =>
      await (await open({ kubeconfig: "k" }, { files: { k: text } })).connection.credentials.current();
    await assert.rejects(used, { name: "MeshError", message });
  });
}

Deno.test("KUBECONFIG lists files: the first entry of a name wins, missing files are ignored", async () => {
  const asked: (readonly [string, string | null])[] = [];
  const world = fakeWorld({
    env: { KUBECONFIG: "/none:/a/k:/b/k:/c/k" },
    files: {
      "/a/k": "current-context: two",
      "/b/k": CONFIG,
      "/b/token": "t",
      "/c/k": context("server: https://late.test"),
    },
    request(url, init) {
      asked.push([url, new Headers(init?.headers).get("authorization")]);
      return Response.json({ apiVersion: "v1", kind: "Pod", metadata: { name: "x" } });
    },
  });
  await (await connect(world)).get("/x");
  assert.deepEqual(asked, [["http://b.test/k8s/x", "Bearer t"]]);
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

Deno.test("connect() without a cluster names where it looked", async () => {
  await assert.rejects(connect(fakeWorld()), { message: /^No cluster is configured/ });
});

Deno.test("flags win over the kubeconfig", async () => {
  const { connection } = await open({
    server: "https://other.test",
    tlsServerName: "other",
    insecureSkipTlsVerify: true,
    certificateAuthority: "/keys/other.crt",
    token: "secret",
    as: "eve",
    asGroup: ["g", "h"],
  }, { files: { ...FILES, "/keys/other.crt": `${PEM}other` } });
  assert.deepEqual([connection.server, connection.serverName, connection.insecure], [
    "https://other.test",
    "other",
    true,
  ]);
  const { headers, authorities, identity } = await connection.credentials.current();
  assert.deepEqual([authorities, identity], [`${PEM}other`, undefined]);
  assert.deepEqual([...headers], [
    ["authorization", "Bearer secret"],
    ["impersonate-group", "g, h"],
    ["impersonate-user", "eve"],
  ]);
});

Deno.test("a server by a flag needs no kubeconfig, a group needs a user", async () => {
  const world = fakeWorld({});
  const connection = await kubeconfigConnection(world, [], { server: "a.test:6443", token: "t" });
  assert.deepEqual([connection.server, connection.origin], ["https://a.test:6443", "--server"]);
  assert.deepEqual([...(await connection.credentials.current()).headers], [["authorization", "Bearer t"]]);
  const { connection: both } = await open({ server: "https://b.test" });
  assert.match(both.origin, /^--server, with context "[^"]+" of "\/home\/ada\/.kube\/config"$/);
  const api = await connect(fakeWorld({}), { server: "https://a.test" });
  assert.equal(api.server, "https://a.test");
  api.close();
  await assert.rejects(open({ asGroup: ["g"] }), /--as-group needs --as/);
});
