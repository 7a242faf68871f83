import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { sameBytes } from "../../base/bytes.ts";
import { sequence } from "./der/der.ts";
import {
  createRequest,
  decodePem,
  DerReader,
  encodePem,
  generateEcKey,
  genPrivateKey,
  makeRsaKey,
  pkcs8Pem,
  type PrivateKey,
  readPrivateKey,
} from "./mod.ts";

const URI = "spiffe://cluster.local/ns/default/sa/bookinfo-productpage";

/** Whether the key signed the request, and what the request says. */
function read(der: Uint8Array, hash: string) {
  const outer = new DerReader(der).sequence();
  const signed = outer.any().whole;
  outer.any();
  const info = new DerReader(signed).sequence();
  const version = info.integer();
  const subject = info.sequence();
  const publicKey = info.any().whole;
  const attributes = info.take(0xa0).content;
  const key = createPublicKey(encodePem("PUBLIC KEY", publicKey));
  return {
    version,
    hasSubject: !subject.atEnd,
    publicKey,
    attributes,
    isValid: verify(hash, signed, key, outer.bits()),
  };
}

const KEYS: readonly (readonly [string, string, () => PrivateKey | Promise<PrivateKey>])[] = [
  ["P-256", "sha256", () => generateEcKey()],
  ["P-384", "sha384", () => generateEcKey("P384")],
  ["RSA", "sha256", () => makeRsaKey(2048)],
];

for (const [name, hash, make] of KEYS) {
  Deno.test(`createRequest() signs with a key of ${name} and asks only for the name`, async () => {
    const key = await make();
    const request = read(createRequest(URI, key), hash);
    assert(request.isValid);
    assert(sameBytes(request.publicKey, key.publicKey()));
    assert.deepEqual([request.version, request.hasSubject], [0n, false]);
    assert(new TextDecoder().decode(request.attributes).endsWith(URI));
  });

  Deno.test(`pkcs8Pem() of a key of ${name} is the same key in the other form`, async () => {
    const key = await make();
    const pem = pkcs8Pem(key);
    assert(pem.startsWith("-----BEGIN PRIVATE KEY-----\n"));
    assert.equal(readPrivateKey(pem).pem(), key.pem());
  });
}

Deno.test("pkcs8Pem() returns a PKCS #8 key unchanged", () => {
  const pem = genPrivateKey("ed25519");
  assert.equal(pkcs8Pem(readPrivateKey(pem)), pem);
});

Deno.test("readPrivateKey() rejects an RSA key with more than two primes, with the reason", () => {
  const two = decodePem(genPrivateKey("rsa"))?.bytes ?? new Uint8Array();
  const more = sequence(new DerReader(two).sequence().bytes, sequence());
  assert.throws(() => readPrivateKey(encodePem("RSA PRIVATE KEY", more)), /more than two primes/);
});

Deno.test("createRequest() refuses a name beyond ASCII", () => {
  assert.throws(() => createRequest("spiffe://bücher/ns/a/sa/b", generateEcKey()), /characters that a certificate/);
});
