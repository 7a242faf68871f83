/** Go's crypto/x509 and openssl read our certificate requests. */
import assert from "node:assert/strict";
import {
  createRequest,
  encodePem,
  generateEcKey,
  makeRsaKey,
  pkcs8Pem,
  type PrivateKey,
} from "../../../src/golang/x509/mod.ts";
import { askGoProgram } from "../../support/programs/go_program.ts";
import { needsProgram, testWhen } from "../../support/test_when.ts";

const URI = "spiffe://cluster.local/ns/default/sa/bookinfo-productpage";

interface Kind {
  readonly name: string;
  readonly make: () => PrivateKey | Promise<PrivateKey>;
  readonly signature: string;
  readonly algorithm: string;
  readonly size: number;
}

const KINDS: readonly Kind[] = [
  { name: "P-256", make: () => generateEcKey(), signature: "ECDSA-SHA256", algorithm: "ECDSA", size: 256 },
  { name: "P-384", make: () => generateEcKey("P384"), signature: "ECDSA-SHA384", algorithm: "ECDSA", size: 384 },
  { name: "RSA", make: () => makeRsaKey(2048), signature: "SHA256-RSA", algorithm: "RSA", size: 2048 },
];

async function openssl(args: readonly string[], input: string): Promise<string> {
  const child = new Deno.Command("openssl", { args: [...args], stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  const [output] = await Promise.all([child.output(), new Blob([input]).stream().pipeTo(child.stdin)]);
  assert(output.success, new TextDecoder().decode(output.stderr));
  return new TextDecoder().decode(output.stdout) + new TextDecoder().decode(output.stderr);
}

function requestOf(key: PrivateKey): string {
  return encodePem("CERTIFICATE REQUEST", createRequest(URI, key));
}

testWhen(needsProgram("go"), "requests: crypto/x509 reads the name, the key and nothing else", async () => {
  const asked = await Promise.all(KINDS.map(async ({ make }) => {
    const key = await make();
    const csr = requestOf(key);
    return [{ csr, key: key.pem() }, { csr, key: pkcs8Pem(key) }];
  }));
  const answers = await askGoProgram("test/oracle/x509", asked.flat(), (line): unknown => JSON.parse(line));
  const name = [...new TextEncoder().encode(URI)].map((byte) => byte.toString(16).padStart(2, "0")).join("");
  const length = (size: number) => size.toString(16).padStart(2, "0");
  const value = `30${length(URI.length + 2)}86${length(URI.length)}${name}`;
  const expected = KINDS.flatMap(({ signature, algorithm, size }) => {
    const fields = {
      Version: 0,
      Subject: "",
      SignatureAlgorithm: signature,
      PublicKeyAlgorithm: algorithm,
      Size: size,
      URIs: [URI],
      OtherNames: 0,
      Extensions: [{ ID: "2.5.29.17", Critical: true, Value: value }],
    };
    return [{ fields }, { fields }];
  });
  assert.deepEqual(answers, expected);
});

for (const { name, make } of KINDS) {
  testWhen(needsProgram("openssl"), `requests: openssl verifies a request of ${name}`, async () => {
    const text = await openssl(["req", "-verify", "-noout", "-text"], requestOf(await make()));
    assert.match(text, /verify OK/);
    assert.match(text, new RegExp(`X509v3 Subject Alternative Name: critical\\s+URI:${URI}\n`));
  });
}
