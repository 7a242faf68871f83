/** The whole identity, with an authority and a clock of the test. */
import assert from "node:assert/strict";
import { sameBytes } from "../../base/bytes.ts";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { settled } from "../../../test/support/manual_clock.ts";
import {
  ADDRESS,
  ANY_ROOT,
  LIFETIME,
  ROOTS,
  START,
  startedIdentity as start,
  throws,
  TOKEN,
  TOKEN_FILE,
  valid,
} from "../../../test/support/agent/started_identity.ts";
import { MeshError } from "../../base/errors.ts";
import { CODE, GrpcError } from "../grpc/mod.ts";
import { decodePem, decodePems, readCertificate, readPrivateKey } from "../../golang/x509/mod.ts";
import type { Files } from "../../platform/world.ts";

const unauthenticated = new GrpcError(CODE.Unauthenticated, "status", "The server refused the call");

function isPair({ certificate, key }: { certificate: string; key: string }): boolean {
  return sameBytes(
    readCertificate(decodePem(certificate)?.bytes ?? new Uint8Array()).publicKey,
    readPrivateKey(key).publicKey(),
  );
}

Deno.test("startIdentity() requests a certificate from istiod, with key and roots", async () => {
  await using test = await start();
  const { identity, ca, changes, clock } = test;
  const [call] = ca.calls;
  assert(call !== undefined);
  assert.deepEqual(call.endpoint, {
    address: ADDRESS,
    tls: { serverName: "istiod.istio-system.svc", authorities: ANY_ROOT, identity: undefined },
  });
  assert.equal(call.method, "/istio.v1.auth.IstioCertificateService/CreateCertificate");
  assert.deepEqual(call.headers, { clusterid: "west", "x-tenant": "a", authorization: `Bearer ${TOKEN}` });
  assert.deepEqual([call.validitySeconds, call.metadata], [86_400, undefined]);
  assert.match(call.csr, /^-----BEGIN CERTIFICATE REQUEST-----\n/);
  const workload = identity.workload();
  assert(workload !== undefined && isPair(workload));
  assert.equal(decodePems(workload.certificate).length, 2);
  assert.equal(identity.roots(), ca.root);
  assert.equal(identity.problem(), undefined);
  assert.deepEqual(changes, ["roots", "workload"]);
  assert.deepEqual(test.lines(), [
    "info agent·sds: The certificate of spiffe://cluster.local/ns/shop/sa/web is in force, until " +
    "2027-01-15T08:01:00Z (1m0s)",
  ]);
  assert.equal(clock.waiting.count, 1);
});

Deno.test("a certificate is renewed at half of its validity with a new key; roots notify only if they differ", async () => {
  await using test = await start();
  const { identity, clock, changes, ca } = test;
  const first = identity.workload();
  await clock.pass(LIFETIME / 2 - 1);
  assert.equal(ca.calls.length, 1);
  await clock.pass(1);
  assert.equal(ca.calls.length, 2);
  assert.notEqual(identity.workload()?.key, first?.key);
  assert.deepEqual(changes, ["roots", "workload", "workload"]);
  ca.replaceRoot();
  await clock.pass(LIFETIME / 2);
  assert.deepEqual(changes.slice(3), ["roots", "workload"]);
  assert.equal(identity.roots(), ca.root);
});

Deno.test("token and roots are read for each request", async () => {
  await using test = await start({ lifetime: 20_000 });
  const { ca, clock, world } = test;
  world.files.writeText(TOKEN_FILE, "second-token");
  world.files.writeText(ROOTS, ca.root);
  await clock.pass(10_000);
  assert.deepEqual([ca.calls[1]?.headers["authorization"], ca.calls[1]?.endpoint.tls?.authorities], [
    "Bearer second-token",
    ca.root,
  ]);
});
Deno.test("a slow CA times out, and its late answer is ignored", async () => {
  await using test = await start();
  const { identity, ca, clock } = test;
  const first = identity.workload();
  const late = Promise.withResolvers<readonly string[]>();
  ca.answer = ({ signal }) => {
    signal.addEventListener("abort", () => late.resolve([]));
    return late.promise;
  };
  await clock.pass(LIFETIME / 2 + 20_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate expires at .* and is not renewed yet: connection: the CA has not/,
  );
  assert.equal(identity.workload(), first);
});

Deno.test("metrics count requests, and requests that fail or time out", async () => {
  const counted: boolean[] = [];
  const metrics = { certificateRequested: ({ isFailed }: { isFailed: boolean }) => void counted.push(isFailed) };
  await using test = await start({ lifetime: 60_000, metrics });
  const { ca, clock } = test;
  assert.deepEqual(counted, [false]);
  ca.answer = throws(unauthenticated);
  await clock.pass(30_000);
  assert.deepEqual(counted.slice(0, 2), [false, true]);
  const late = Promise.withResolvers<readonly string[]>();
  ca.answer = ({ signal }) => {
    signal.addEventListener("abort", () => late.resolve([]));
    return late.promise;
  };
  const before = counted.length;
  await clock.pass(25_000);
  assert.ok(counted.length > before && counted.slice(before).every((isFailed) => isFailed));
});

Deno.test("a failed renewal is reported and retried, and the report ends with success", async () => {
  await using test = await start({ lifetime: 60_000 });
  const { identity, ca, clock, changes } = test;
  const answer = ca.answer;
  ca.answer = throws(unauthenticated);
  await clock.pass(45_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate expires at 2027-01-15T08:01:00Z and is not renewed yet: token: /,
  );
  await clock.pass(15_000);
  assert.match(
    identity.problem() ?? "",
    /^The certificate expired at 2027-01-15T08:01:00Z and was not renewed: token: /,
  );
  assert(identity.workload() !== undefined);
  ca.answer = answer;
  await clock.pass(60_000);
  assert.equal(identity.problem(), undefined);
  assert.equal(changes.filter((what) => what === "workload").length >= 2, true);
});

Deno.test("a failure is logged once until it changes, and closing ends the pause", async () => {
  const test = await start({ answer: throws(unauthenticated) });
  const { ca, clock, lines, identity } = test;
  const warnings = () => lines().filter((line) => line.startsWith("warning"));
  await clock.pass(10_000);
  assert(ca.calls.length > 2);
  assert.equal(warnings().length, 1);
  ca.answer = throws(new GrpcError(CODE.Unavailable, "connection", "refused"));
  await clock.pass(10_000);
  assert.equal(warnings().length, 2);
  await identity.close();
  assert.deepEqual([clock.waiting.count, identity.problem()], [0, undefined]);
});

Deno.test("after a failure, the next request uses a new connection and the same key", async () => {
  await using test = await start({ lifetime: 20_000 });
  const { ca, clock } = test;
  const answer = ca.answer;
  ca.answer = throws(new GrpcError(CODE.Unavailable, "connection", "refused"));
  await clock.pass(10_000);
  ca.answer = answer;
  await clock.pass(200);
  assert.equal(ca.calls.length, 3);
  assert.equal(ca.open, 0);
  const keyOf = (csr = "") => readRequestKey(csr);
  assert.equal(keyOf(ca.calls[1]?.csr), keyOf(ca.calls[2]?.csr));
  assert.notEqual(keyOf(ca.calls[0]?.csr), keyOf(ca.calls[1]?.csr));
});

/** The start of a request up to its signature, which differs each time. */
function readRequestKey(csr: string): string {
  return String(decodePem(csr)?.bytes.slice(0, 100));
}

Deno.test("a certificate that is not valid yet is used, and the clock is reported", async () => {
  await using test = await start();
  const { identity, ca, clock, lines } = test;
  clock.set(-1000);
  ca.answer = ({ csr }) =>
    Promise.resolve([ca.sign(csr, { notBefore: START + LIFETIME, notAfter: START + 2 * LIFETIME }), ca.root]);
  await clock.pass(LIFETIME / 2);
  assert.equal(
    identity.problem(),
    "clock: The certificate is valid only from 2027-01-15T08:01:00Z on: the clock of this machine is behind: correct it",
  );
  assert(lines().some((line) => line.includes("warning agent·sds: clock: The certificate is valid only from")));
  await clock.pass(LIFETIME / 2 - 1);
  assert.equal(ca.calls.length, 2);
  await clock.pass(1);
  assert.equal(ca.calls.length, 3);
});

Deno.test("a different name than requested is a warning", async () => {
  await using test = await start();
  const { ca, clock, lines } = test;
  ca.answer = ({ csr }) =>
    Promise.resolve([ca.sign(csr, { ...valid(clock, LIFETIME), uris: ["spiffe://td/ns/a/sa/b"] }), ca.root]);
  await clock.pass(LIFETIME / 2);
  assert(
    lines().includes(
      "warning agent·sds: The CA certified spiffe://td/ns/a/sa/b instead of spiffe://cluster.local/ns/shop/sa/web",
    ),
  );
});

Deno.test("plain text has no TLS; SYSTEM roots; the signer is sent", async () => {
  await using plain = await start({ authority: { isPlain: true, rootsFile: "./absent", certSigner: "mesh" } });
  assert.equal(plain.ca.calls[0]?.endpoint.tls, undefined);
  assert.match(new TextDecoder().decode(plain.ca.calls[0]?.metadata), /CertSigner[^]*mesh$/);
  await using system = await start({ authority: { rootsFile: undefined } });
  assert.deepEqual([system.ca.calls[0]?.endpoint.tls?.authorities, system.identity.problem()], [undefined, undefined]);
});

Deno.test("PROV_CERT: an existing certificate is used unless expired", async () => {
  for (const days of [1000n, -1n]) {
    const { certificate, key } = testCertificate(days);
    const files = { "./prov/cert-chain.pem": certificate, "./prov/key.pem": key };
    await using test = await start({ authority: { clientFolder: "./prov" }, files });
    assert.deepEqual(test.ca.calls[0]?.endpoint.tls?.identity, days < 0n ? undefined : { certificate, key });
  }
  await using absent = await start({ authority: { clientFolder: "./nothing" } });
  assert.deepEqual([absent.ca.calls[0]?.endpoint.tls?.identity, absent.identity.problem()], [undefined, undefined]);
});

Deno.test("keys as configured: P-384, RSA, PKCS #8", async () => {
  await using p384 = await start({ key: { type: "ecdsa", curve: "P384" } });
  assert.match(p384.identity.workload()?.key ?? "", /^-----BEGIN EC PRIVATE KEY/);
  await using pkcs8 = await start({ isPkcs8: true });
  const workload = pkcs8.identity.workload();
  assert(workload?.key.startsWith("-----BEGIN PRIVATE KEY") && isPair(workload));
  await using rsa = await start({ key: { type: "rsa", bits: 2048 } });
  for (const end = Date.now() + 20_000; rsa.identity.workload() === undefined && Date.now() < end;) await settled();
  const made = rsa.identity.workload();
  assert(made?.key.startsWith("-----BEGIN RSA PRIVATE KEY") && isPair(made));
});

Deno.test("closing during a request aborts it, and nothing follows", async () => {
  const test = await start({ lifetime: 20_000 });
  const { identity, ca, clock } = test;
  let ended = false;
  ca.answer = ({ signal }) =>
    new Promise((_, reject) => {
      signal.addEventListener("abort", () => {
        ended = true;
        reject(signal.reason);
      });
    });
  await clock.pass(10_000);
  await identity.close();
  assert.deepEqual([ended, clock.waiting.count, ca.open, identity.problem()], [true, 0, 0, undefined]);
});

Deno.test("an ended subscription is not notified", async () => {
  await using test = await start();
  const heard: string[] = [];
  const end = test.identity.subscribe((what) => heard.push(what));
  end();
  await test.clock.pass(LIFETIME / 2);
  assert.deepEqual(heard, []);
});

Deno.test("OUTPUT_CERTS: each certificate is written; failures are reported and retried", async () => {
  await using test = await start({ outputFolder: "./out" });
  const { identity, world, clock } = test;
  const written = (name: string) => new TextDecoder().decode(world.content.get(`./out/${name}`));
  const inForce = () => [identity.workload()?.certificate, identity.workload()?.key, identity.roots()];
  const files = () => ["cert-chain.pem", "key.pem", "root-cert.pem"].map(written);
  assert.deepEqual(files(), inForce());
  const broken = breakWrites(world.files);
  await clock.pass(LIFETIME / 2);
  assert.notDeepEqual(files(), inForce());
  assert.match(
    identity.problem() ?? "",
    /^files: The certificate is in force, but not written to "\.\/out" \(OUTPUT_CERTS\): full$/,
  );
  await clock.pass(15_000);
  assert.equal(world.said.stderr.match(/OUTPUT_CERTS/g)?.length, 1);
  broken.mend();
  await clock.pass(5000);
  assert.deepEqual([identity.problem(), files()], [undefined, inForce()]);
  assert.equal(test.ca.calls.length, 2);
});

/** Nothing can be written any more, until it is mended. */
function breakWrites(files: Files): { mend(): void } {
  const { replace } = files;
  const full = () => {
    throw new MeshError("full");
  };
  Object.assign(files, { replace: full });
  return { mend: () => void Object.assign(files, { replace }) };
}
