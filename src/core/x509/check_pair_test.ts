import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { checkPair, factsOfCertificate } from "./check_pair.ts";

const NAMES = { certificate: "tls.crt", key: "tls.key" };
const [ONE, OTHER] = [testCertificate(), testCertificate()];
/** What `openssl ecparam -genkey` writes before a key. */
const PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

Deno.test("checkPair(): a certificate, also with those that it was signed by, and its key", () => {
  checkPair(ONE, NAMES);
  checkPair({ certificate: ONE.certificate + ONE.authority, key: PARAMETERS + ONE.key }, NAMES);
});

const WRONG = [
  { pair: { ...ONE, key: OTHER.key }, message: 'The key "tls.key" is not that of the certificate "tls.crt"' },
  { pair: { ...ONE, certificate: ONE.authority + ONE.certificate }, message: 'The key "tls.key" is not that' },
  { pair: { ...ONE, certificate: "" }, message: "There is no certificate in PEM" },
  { pair: { ...ONE, certificate: ONE.key }, message: "There is no certificate in PEM" },
  {
    pair: { ...ONE, certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
    message: "The certif",
  },
  { pair: { ...ONE, key: ONE.certificate }, message: "There is no private key in PEM" },
  {
    pair: { ...ONE, key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" },
    message: "The private key cannot be read: ",
  },
] as const;

for (const { pair, message } of WRONG) {
  Deno.test(`checkPair(): ${message}`, () => {
    assert.throws(() => checkPair(pair, NAMES), (error) => {
      assert.ok(error instanceof Error && error.name === "MeshError");
      assert.ok(error.message.startsWith(message), error.message);
      const secret = pair.key.split("\n")[1] ?? "";
      return secret.length < 5 || !JSON.stringify(error).includes(secret);
    });
  });
}

Deno.test("factsOfCertificate(): when it expires", () => {
  const { notAfter, notBefore } = factsOfCertificate(testCertificate(-1n).certificate, "tls.crt");
  assert.ok(notBefore < notAfter && notAfter < new Date());
});
