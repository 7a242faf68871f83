import assert from "node:assert/strict";
import { testAuthority } from "../../../../test/support/tls/authority.ts";
import { temporaryFolder } from "../../../../test/support/temporary_folder.ts";
import { emptyDefaultStore, systemRoots, withVariables } from "./trust.ts";
import { MeshError } from "../../../base/errors.ts";

const SCRIPT = decodeURIComponent(
  new URL("../../../../test/support/runtime/trust_of_clients.ts", import.meta.url).pathname,
);
/** They use the system's roots. */
const OF_SYSTEM = ["request", "download"];
const GIVEN = ["dial", "tls to an address", "client", "client with another name", "web socket"];
const UNVERIFIED = "exchange without verification";

/** What the clients of another process say about a server, by their names. */
async function clientsOf(port: number, env: Record<string, string>, root: string, first: string) {
  const args = [
    "run",
    "--quiet",
    "--no-check",
    "--unstable-net",
    "--allow-all",
    SCRIPT,
    `https://localhost:${port}`,
    root,
    first,
  ];
  const { stdout, stderr } = await new Deno.Command(Deno.execPath(), { args, env }).output();
  const lines = new TextDecoder().decode(stdout).trim().split("\n").map((line) => line.split(": "));
  assert.equal(lines.length, 8, new TextDecoder().decode(stderr));
  return Object.fromEntries(lines.map(([name = "", result]) => [name, result]));
}

function serve({ certificate: cert, key }: { readonly certificate: string; readonly key: string }) {
  const options = { hostname: "127.0.0.1", port: 0, cert, key, onListen() {} };
  return Deno.serve(options, (request) => {
    if (request.headers.get("upgrade") === null) return new Response("hello");
    return Deno.upgradeWebSocket(request).response;
  });
}

Deno.test("a given root is the only trusted root: DENO_CERT, DENO_TLS_CA_STORE and SSL_CERT_FILE add no roots", async () => {
  await using folder = await temporaryFolder();
  const [good, other] = [testAuthority(), testAuthority()];
  const [goodFile, otherFile] = [`${folder.path}/good.pem`, `${folder.path}/other.pem`];
  await Deno.writeTextFile(goodFile, good.roots);
  await Deno.writeTextFile(otherFile, other.roots);
  const wanted = { dnsNames: ["localhost"] };
  await using goodServer = serve(good.issue(wanted));
  await using otherServer = serve(other.issue(wanted));
  const env = { DENO_CERT: otherFile, SSL_CERT_FILE: otherFile, DENO_TLS_CA_STORE: "system,mozilla" };
  const all = (given: string, ofSystem: string) =>
    Object.fromEntries([
      ...GIVEN.map((name) => [name, given]),
      ...OF_SYSTEM.map((name) => [name, ofSystem]),
      [UNVERIFIED, "taken"],
    ]);
  // Whichever client is the first one empties the store.
  for (const first of [...GIVEN, ...OF_SYSTEM, UNVERIFIED]) {
    assert.deepEqual(await clientsOf(otherServer.addr.port, env, goodFile, first), all("refused", "taken"), first);
  }
  assert.deepEqual(await clientsOf(goodServer.addr.port, env, goodFile, "dial"), all("taken", "refused"));
  // The system's roots come from SSL_CERT_FILE alone.
  const onlyDeno = { ...env, SSL_CERT_FILE: goodFile };
  assert.deepEqual(await clientsOf(otherServer.addr.port, onlyDeno, goodFile, "request"), all("refused", "refused"));
});

Deno.test("emptyDefaultStore() leaves the environment as it was", () => {
  withVariables({ DENO_CERT: "/no/such/file", DENO_TLS_CA_STORE: undefined }, () => {
    emptyDefaultStore();
    assert.deepEqual([Deno.env.get("DENO_CERT"), Deno.env.get("DENO_TLS_CA_STORE")], ["/no/such/file", undefined]);
  });
});

Deno.test("systemRoots() reports an unreadable SSL_CERT_FILE, and trusts no other roots", () => {
  withVariables({ SSL_CERT_FILE: "/no/such/file" }, () => {
    assert.throws(systemRoots, (error) => error instanceof MeshError && /"\/no\/such\/file"/.test(error.message));
  });
  assert.match(withVariables({ SSL_CERT_FILE: "" }, systemRoots), /-----BEGIN CERTIFICATE-----/);
});
