/** A server with a certificate of another authority gets no request, whatever roots the environment trusts. */
import assert from "node:assert/strict";
import { runMesh } from "../../support/programs/mesh.ts";
import { temporaryFolder } from "../../support/temporary_folder.ts";
import { testAuthority } from "../../support/tls/authority.ts";

const TOKEN = "the-secret-token";

/** A server on loopback that remembers its requests. */
function serve({ certificate: cert, key }: { readonly certificate: string; readonly key: string }) {
  const asked: string[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, cert, key, onListen() {} }, (request) => {
    const { pathname } = new URL(request.url);
    asked.push(`${pathname} ${request.headers.get("authorization")}`);
    if (pathname === "/pod.yaml") return new Response("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n");
    return Response.json({ kind: "Status", message: "nothing here", code: 404 }, { status: 404 });
  });
  return { asked, port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

async function authorities(folder: string) {
  const [good, other] = [testAuthority(), testAuthority()];
  await Deno.writeTextFile(`${folder}/good.pem`, good.roots);
  await Deno.writeTextFile(`${folder}/other.pem`, other.roots);
  return { good, other };
}

async function kubeconfig(folder: string, port: number): Promise<string> {
  const path = `${folder}/kubeconfig-${port}`;
  const cluster = { server: `https://localhost:${port}`, "certificate-authority": `${folder}/good.pem` };
  const config = {
    clusters: [{ name: "c", cluster }],
    users: [{ name: "u", user: { token: TOKEN } }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  };
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

const WANTED = { dnsNames: ["localhost"] };

Deno.test("security: an API server is trusted by certificate-authority alone, whatever DENO_CERT, DENO_TLS_CA_STORE and SSL_CERT_FILE say", async () => {
  await using folder = await temporaryFolder();
  const { good, other } = await authorities(folder.path);
  await using hostile = serve(other.issue(WANTED));
  await using right = serve(good.issue(WANTED));
  const file = `${folder.path}/other.pem`;
  const env = { DENO_CERT: file, SSL_CERT_FILE: file, DENO_TLS_CA_STORE: "system,mozilla" };
  const ask = async (port: number) =>
    await runMesh(["check", "--kubeconfig", await kubeconfig(folder.path, port)], { env });
  const { code, stdout, stderr } = await ask(hostile.port);
  assert.notEqual(code, 0);
  const said = (stdout + stderr).replaceAll(/\s+/g, " ");
  assert.match(
    said,
    /cannot be reached: invalid peer certificate: UnknownIssuer; check that certificate-authority in the kubeconfig is the authority of this cluster/,
  );
  assert.deepEqual(hostile.asked, []);
  await ask(right.port);
  assert.ok(right.asked.some((request) => request.endsWith(` Bearer ${TOKEN}`)), right.asked.join());
});

Deno.test("security: -f https:// trusts the system's roots, for which SSL_CERT_FILE stands, and no other", async () => {
  await using folder = await temporaryFolder();
  const { good, other } = await authorities(folder.path);
  await using hostile = serve(other.issue(WANTED));
  await using right = serve(good.issue(WANTED));
  const own = { SSL_CERT_FILE: `${folder.path}/good.pem`, DENO_CERT: `${folder.path}/other.pem` };
  const read = (port: number) =>
    runMesh(["uninject", "-f", `https://user:secret@localhost:${port}/pod.yaml?token=secret`, "--report", "none"], {
      env: { ...own, DENO_TLS_CA_STORE: "system,mozilla" },
    });
  const refused = await read(hostile.port);
  assert.equal(refused.code, 1);
  assert.match(
    refused.stderr,
    /^error: https:.* Cannot read "https:\/\/localhost:\d+\/pod\.yaml\?\[redacted\]": .*UnknownIssuer/,
  );
  assert.match(refused.stderr, /SSL_CERT_FILE/);
  assert.doesNotMatch(refused.stderr, /secret/);
  assert.deepEqual(hostile.asked, []);
  const taken = await read(right.port);
  assert.deepEqual([taken.code, taken.stderr], [0, ""]);
  assert.match(taken.stdout, /kind: ConfigMap/);
});
