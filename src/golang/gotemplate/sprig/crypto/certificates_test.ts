import assert from "node:assert/strict";
import { createPublicKey, verify, X509Certificate } from "node:crypto";
import { binaryOf } from "../../../../base/bytes.ts";
import { decodePem, DerReader, encodePem, readCertificate } from "../../../x509/mod.ts";
import { parse } from "../../mod.ts";
import { toBinary } from "../text/octets.ts";
import { sprigFunctions } from "../mod.ts";

const NOW = "2026-11-21T12:34:56.789Z";

function run(template: string, now = NOW): string {
  return parse("t", template, { funcs: sprigFunctions({ now: () => new Date(now) }) }).render({});
}

function derOf(pem: string): Uint8Array {
  const block = decodePem(toBinary(pem));
  assert(block !== undefined);
  return block.bytes;
}

/** Whether the key of `issuer` made the signature of `cert`. */
function isSignedBy(cert: string, issuer: string, hash: string | null): boolean {
  const reader = new DerReader(derOf(cert)).sequence();
  const signed = reader.any().whole;
  reader.any();
  const publicKey = createPublicKey(encodePem("PUBLIC KEY", readCertificate(derOf(issuer)).publicKey));
  return verify(hash, signed, publicKey, reader.bits());
}

const KEYS: readonly (readonly [kind: string, hash: string | null, type: string])[] = [
  ["ecdsa", "sha256", "EC PRIVATE KEY"],
  ["ed25519", null, "PRIVATE KEY"],
];

for (const [kind, hash, type] of KEYS) {
  Deno.test(`genCAWithKey and genSignedCertWithKey with a key of ${kind} make a chain that node verifies`, () => {
    const text = run(
      `{{ $ca := genCAWithKey "Root" 10 (genPrivateKey "${kind}") }}` +
        `{{ $c := genSignedCertWithKey "leaf" (list "10.0.0.1") (list "a.example") 2 $ca (genPrivateKey "${kind}") }}` +
        "{{ $ca.Cert }}|{{ $c.Cert }}|{{ $c.Key }}",
    );
    const [ca = "", leaf = "", key = ""] = text.split("|");
    const { subject, issuer, validFrom, validTo } = new X509Certificate(leaf);
    assert.deepEqual({ subject, issuer, validFrom: Date.parse(validFrom), validTo: Date.parse(validTo) }, {
      subject: "CN=leaf",
      issuer: "CN=Root",
      validFrom: Date.parse("2026-11-21T12:34:56Z"),
      validTo: Date.parse("2026-11-23T12:34:56Z"),
    });
    assert.equal(new X509Certificate(ca).ca, true);
    assert.equal(new X509Certificate(leaf).ca, false);
    assert(isSignedBy(ca, ca, hash));
    assert(isSignedBy(leaf, ca, hash));
    assert(!isSignedBy(leaf, leaf, hash));
    assert(key.startsWith(`-----BEGIN ${type}-----\n`));
  });
}

Deno.test("genSelfSignedCert makes an RSA key of 2048 bits that belongs to the certificate", () => {
  const text = run('{{ $c := genSelfSignedCert "a" nil nil 1 }}{{ $c.Cert }}|{{ $c.Key }}|{{ $c.Cert }}');
  const [cert = "", key = "", again] = text.split("|");
  assert.equal(again, cert);
  assert(isSignedBy(cert, cert, "sha256"));
  const fromKey = createPublicKey(key).export({ type: "spki", format: "der" });
  assert.deepEqual(new X509Certificate(cert).publicKey.export({ type: "spki", format: "der" }), fromKey);
  assert.equal(fromKey.length, 294);
});

/** The times of a certificate as they are written. */
function timesOf(days: string, now: string): string[] {
  const pem = run(`{{ (genCAWithKey "a" ${days} (genPrivateKey "ed25519")).Cert }}`, now);
  const tbs = new DerReader(derOf(pem)).sequence().sequence();
  for (let i = 0; i < 4; i++) tbs.any();
  const validity = tbs.sequence();
  return [binaryOf(validity.any().content), binaryOf(validity.any().content)];
}

Deno.test("times from 1950 to 2049 are UTCTime, others GeneralizedTime; too many days overflow into the past, as in Go", () => {
  assert.deepEqual(timesOf("1", "2049-12-31T00:00:00.999Z"), ["491231000000Z", "20500101000000Z"]);
  assert.deepEqual(timesOf("-1", "1950-01-01T00:00:00Z"), ["500101000000Z", "19491231000000Z"]);
  assert.deepEqual(timesOf("-1", NOW), ["261121123456Z", "261120123456Z"]);
  // 2^63 ns are 106751 days and a bit.
  assert.deepEqual(timesOf("106751", NOW), ["261121123456Z", "23190302123456Z"]);
  assert.deepEqual(timesOf("106752", NOW), ["261121123456Z", "17340812130023Z"]);
});

Deno.test("certificates have serial numbers of their own", () => {
  const template = '{{ (genCAWithKey "a" 1 (genPrivateKey "ed25519")).Cert }}';
  const serials = new Set([1, 2, 3].map(() => new X509Certificate(run(template)).serialNumber));
  assert.equal(serials.size, 3);
});

Deno.test("a template that only mentions a certificate function creates no certificate", () => {
  assert.equal(run('{{ if false }}{{ genCA "ca" 10 }}{{ end }}'), "");
});
