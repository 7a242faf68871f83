import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { sameBytes } from "../../base/bytes.ts";
import {
  createCertificate,
  decodePem,
  decodePems,
  encodePem,
  generateEcKey,
  isSignedBy,
  readCertificate,
  readPrivateKey,
  type Request,
} from "./mod.ts";

const REQUEST: Request = {
  commonName: "",
  addresses: [Uint8Array.of(127, 0, 0, 1)],
  dnsNames: ["webhook.mesh.svc", "webhook.mesh.svc.cluster.local"],
  uris: ["spiffe://cluster.local/ns/mesh/sa/webhook"],
  notBefore: 1_790_000_000n,
  notAfter: 1_800_000_000n,
  serial: 7n,
  isAuthority: false,
};

Deno.test("createCertificate() makes a chain of EC keys that node verifies", () => {
  const authorityKey = generateEcKey();
  const authority = createCertificate(
    { ...REQUEST, commonName: "authority", dnsNames: [], addresses: [], isAuthority: true },
    authorityKey,
    { certificate: undefined, key: authorityKey },
  );
  const key = readPrivateKey(generateEcKey().pem());
  const der = createCertificate(REQUEST, key, { certificate: readCertificate(authority), key: authorityKey });
  const read = new X509Certificate(encodePem("CERTIFICATE", der));
  assert.deepEqual([read.issuer, read.ca, Date.parse(read.validTo)], ["CN=authority", false, 1_800_000_000_000]);
  assert(isSignedBy(der, authority));
  assert(!isSignedBy(der, createCertificate(REQUEST, key, { certificate: undefined, key })));
  const { publicKey, issuer, notBefore, notAfter, dnsNames, uris } = readCertificate(der);
  assert(new TextDecoder().decode(issuer).endsWith("authority"));
  assert(sameBytes(publicKey, key.publicKey()));
  assert.deepEqual({ notBefore, notAfter, dnsNames, uris }, {
    notBefore: new Date(1_790_000_000_000),
    notAfter: new Date(1_800_000_000_000),
    dnsNames: REQUEST.dnsNames,
    uris: REQUEST.uris,
  });
});

Deno.test("readCertificate() reads times before 1950 and after 2049 too", () => {
  const key = generateEcKey();
  const [notBefore, notAfter] = [-631152001n, 2524608000n];
  const der = createCertificate({ ...REQUEST, notBefore, notAfter }, key, { certificate: undefined, key });
  const facts = readCertificate(der);
  assert.deepEqual([facts.notBefore.toISOString(), facts.notAfter.toISOString()], [
    "1949-12-31T23:59:59.000Z",
    "2050-01-01T00:00:00.000Z",
  ]);
});

Deno.test("decodePems() reads every complete block", () => {
  const [a, b] = [encodePem("A", Uint8Array.of(1)), encodePem("B", Uint8Array.of(2, 3))];
  const broken = "-----BEGIN X-----\n!\n-----END X-----\n";
  assert.deepEqual(decodePems(`text\n${a}${broken}${b}rest`).map(({ type, bytes }) => [type, ...bytes]), [
    ["A", 1],
    ["B", 2, 3],
  ]);
});

Deno.test("a DNS name beyond ASCII is refused", () => {
  const key = generateEcKey();
  const ask = () =>
    createCertificate({ ...REQUEST, dnsNames: ["bücher.example"] }, key, { certificate: undefined, key });
  assert.throws(ask, /"bücher.example" has characters .* punycode/);
});

const BODIES: readonly (readonly [body: string, read: string | undefined])[] = [
  ["AQID", "1,2,3"],
  [" AQ\tI=\r\n", "1,2"],
  ["AQ\n==", "1"],
  ["AQI", undefined],
  ["AQ=I", undefined],
  ["AQ==AQ==", undefined],
  ["AQ-D", undefined],
];

for (const [body, read] of BODIES) {
  Deno.test(`decodePem() reads ${JSON.stringify(body)} as Go's encoding/pem does`, () => {
    const block = decodePem(`before\n-----BEGIN X-----\n${body}\n-----END X-----\n`);
    assert.equal(block?.bytes.join(","), read);
  });
}
