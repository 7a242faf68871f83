import assert from "node:assert/strict";
import { createPublicKey, verify, X509Certificate } from "node:crypto";
import {
  createCertificate,
  decodePem,
  DerReader,
  DnsNameError,
  encodePem,
  generateEcKey,
  readCertificate,
  readPrivateKey,
  type Request,
} from "./mod.ts";

const REQUEST: Request = {
  commonName: "",
  addresses: [Uint8Array.of(127, 0, 0, 1)],
  dnsNames: ["webhook.mesh.svc", "webhook.mesh.svc.cluster.local"],
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
  assert.equal(
    read.subjectAltName,
    "DNS:webhook.mesh.svc, DNS:webhook.mesh.svc.cluster.local, IP Address:127.0.0.1",
  );
  assert.deepEqual([read.issuer, Date.parse(read.validTo)], ["CN=authority", 1_800_000_000_000]);
  const outer = new DerReader(der).sequence();
  const signed = outer.any().whole;
  outer.any();
  const publicKey = createPublicKey(encodePem("PUBLIC KEY", readCertificate(authority).publicKey));
  assert(verify("sha256", signed, publicKey, outer.bits()));
});

Deno.test("a DNS name that ASCII cannot say is refused", () => {
  const key = generateEcKey();
  const ask = () =>
    createCertificate({ ...REQUEST, dnsNames: ["bücher.example"] }, key, { certificate: undefined, key });
  assert.throws(ask, (error) => error instanceof DnsNameError && error.dnsName === "bücher.example");
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
