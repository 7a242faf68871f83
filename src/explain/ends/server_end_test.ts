import assert from "node:assert/strict";
import { re2Library } from "../../golang/re2.ts";
import { factsOf } from "../connection/facts.ts";
import { fakeSnapshot } from "../connection/fake_snapshot_test.ts";
import { readConnection } from "../question/read_connection.ts";
import { serverEnd, type Trust, trustStep } from "./server_end.ts";

function side(roots: readonly string[], issuers: readonly string[]): Trust {
  return { roots: new Set(roots.map((root) => `${root} until 2036-01-01`)), issuers: new Set(issuers) };
}

Deno.test("each side must trust the CA of the other side's certificate", () => {
  const why = (client: Trust, server: Trust) => trustStep(client, server)?.end?.reason ?? "";
  assert.equal(why(side(["CN=a"], ["CN=a"]), side(["CN=a"], ["CN=a"])), "");
  // An intermediate CA signed the certificate, and its issuer is trusted.
  assert.equal(why(side(["CN=a"], ["CN=b", "CN=a"]), side(["CN=a"], ["CN=a"])), "");
  assert.match(why(side(["CN=a"], ["CN=a"]), side(["CN=b"], ["CN=b"])), /^The certificates have no common root/);
  assert.equal(
    why(side(["CN=a", "CN=b"], ["CN=a"]), side(["CN=b"], ["CN=b"])),
    "The client's certificate is signed by CN=a, which the server does not trust",
  );
  assert.equal(
    why(side(["CN=a"], ["CN=a"]), side(["CN=a", "CN=b"], ["CN=b"])),
    "The server's certificate is signed by CN=b, which the client does not trust",
  );
  // Roots that Istio generates have the same name.
  const [west, east] = ["2036-01-01", "2036-02-02"].map((day) => ({
    roots: new Set([`O=cluster.local until ${day}`]),
    issuers: new Set(["O=cluster.local"]),
  }));
  assert.ok(west !== undefined && east !== undefined);
  const both = { ...west, roots: new Set([...west.roots, ...east.roots]) };
  assert.equal(trustStep(west, east)?.station.result, "unknown");
  assert.equal(trustStep(west, both)?.station.result, undefined);
  // The issuer is unknown, so one common root is enough.
  assert.equal(why(side(["CN=a", "CN=b"], []), side(["CN=b"], [])), "");
  assert.equal(why(side([], ["CN=a"]), side(["CN=b"], ["CN=b"])), "");
});

Deno.test("a doubt about the roots is the answer of a server that would take the connection", async () => {
  await re2Library.loaded();
  const flags = { from: undefined, toPort: undefined, method: undefined, header: [], sni: undefined };
  const connection = readConnection({ ...flags, to: "http://web:80/" });
  assert.ok(connection !== undefined);
  const peer = { tls: "mutual", isTunnel: false, isHttp: true, sni: "", identity: undefined, expects: [] } as const;
  const snapshot = fakeSnapshot();
  const facts = factsOf(snapshot);
  const roots = [
    { subject: "CN=shared", notAfter: "2036-01-01" },
    { subject: "CN=own", notAfter: "2036-02-02" },
  ];
  const server = { ...facts, certificate: { ...facts.certificate, issuer: "CN=shared", roots } };
  const verdictOf = (issuer: string) => {
    const client = { ...side(["CN=own", "CN=shared"], [issuer]), connection, address: "10.0.0.8", peer, version: "" };
    return serverEnd(client, "10.0.0.9:8080", { snapshot, facts: server }).verdict;
  };
  assert.deepEqual(["CN=shared", "CN=own"].map(verdictOf), ["reaches", "unknown"]);
});
