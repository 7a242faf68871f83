import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { certificateInfo, checkPair } from "./check_pair.ts";

const NAMES = { certificate: "tls.crt", key: "tls.key" };
const [ONE, OTHER] = [testCertificate(), testCertificate()];
/** What `openssl ecparam -genkey` writes before a key. */
const PARAMETERS = "-----BEGIN EC PARAMETERS-----\nBggqhkjOPQMBBw==\n-----END EC PARAMETERS-----\n";

Deno.test("checkPair() accepts a certificate, also with its chain, and its key", async () => {
  await checkPair(ONE, NAMES);
  await checkPair({ certificate: ONE.certificate + ONE.authority, key: PARAMETERS + ONE.key }, NAMES);
});

/** Written by `openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:secp521r1`. */
const P521 = {
  certificate: `-----BEGIN CERTIFICATE-----
MIIB9zCCAVigAwIBAgIUQqIhBzIv0dA4rfs5uPJkSvHR1SkwCgYIKoZIzj0EAwIw
DDEKMAgGA1UEAwwBYTAgFw0yNjExMjIxOTI0NTNaGA8yMTI2MTAyOTE5MjQ1M1ow
DDEKMAgGA1UEAwwBYTCBmzAQBgcqhkjOPQIBBgUrgQQAIwOBhgAEARNuihxVAdZM
p9H0jXhvwBWwN2BuifRdCeRYocH/C4lCvQf6DJ3uja1KiaJY286nj29l9Z266Rix
RLJeRa40niBRAGY52mSl3zmFcKluGqmuJByCw1fZeIIQCvUnTEELb7lyhWykqMlI
ATxX5QIHkPCmV/eKsqyAEDGA2kABJ7VZnDFyo1MwUTAdBgNVHQ4EFgQU4XWxGnNj
5sYMZMTcmxJ3fqiEI2MwHwYDVR0jBBgwFoAU4XWxGnNj5sYMZMTcmxJ3fqiEI2Mw
DwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgOBjAAwgYgCQgE2zEZ/Khgyqe+d
XKvWiPcJpZgQhmgLEHlJy2pe4QJlF01Z7kXft540z6fnUM6JG4umv9fhdx8iyxFB
8zMWNkRsOwJCAfnLedIVfdWTNl71JC19Pp3ly5I7SfMNwvqBylcvjHdseksWZ9zJ
x4w4G5DvM5NQxUzcl6ZO4gQTrJJ0a+ndVKkQ
-----END CERTIFICATE-----
`,
  key: `-----BEGIN PRIVATE KEY-----
MIHuAgEAMBAGByqGSM49AgEGBSuBBAAjBIHWMIHTAgEBBEIBQUhTgUpjfChMA9XR
xM8sqzvuG0qAWTAAYBtZTg8D+C0Rbh4J/EKGTMUVzNp0zUzmRQQywcw2at+guleg
l8at2MuhgYkDgYYABAETboocVQHWTKfR9I14b8AVsDdgbon0XQnkWKHB/wuJQr0H
+gyd7o2tSomiWNvOp49vZfWduukYsUSyXkWuNJ4gUQBmOdpkpd85hXCpbhqpriQc
gsNX2XiCEAr1J0xBC2+5coVspKjJSAE8V+UCB5Dwplf3irKsgBAxgNpAASe1WZwx
cg==
-----END PRIVATE KEY-----
`,
};

Deno.test("checkPair() loads the library for a key on P-521", async () => {
  await checkPair(P521, NAMES);
  await assert.rejects(
    checkPair({ ...P521, certificate: ONE.certificate }, NAMES),
    /does not belong to the certificate/,
  );
});

const WRONG = [
  { pair: { ...ONE, key: OTHER.key }, message: 'The key "tls.key" does not belong to the certificate "tls.crt"' },
  { pair: { ...ONE, certificate: ONE.authority + ONE.certificate }, message: 'The key "tls.key" does not belong' },
  { pair: { ...ONE, certificate: "" }, message: "No certificate in PEM" },
  { pair: { ...ONE, certificate: ONE.key }, message: "No certificate in PEM" },
  {
    pair: { ...ONE, certificate: "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n" },
    message: "Cannot read the certif",
  },
  { pair: { ...ONE, key: ONE.certificate }, message: "No private key in PEM" },
  {
    pair: { ...ONE, key: "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n" },
    message: "Cannot read the private key: ",
  },
] as const;

for (const { pair, message } of WRONG) {
  Deno.test(`checkPair(): ${message}`, async () => {
    await assert.rejects(checkPair(pair, NAMES), (error) => {
      assert.ok(error instanceof Error && error.name === "MeshError");
      assert.ok(error.message.startsWith(message), error.message);
      const secret = pair.key.split("\n")[1] ?? "";
      return secret.length < 5 || !JSON.stringify(error).includes(secret);
    });
  });
}

Deno.test("certificateInfo() reads when a certificate expires", () => {
  const { notAfter, notBefore } = certificateInfo(testCertificate(-1n).certificate, "tls.crt");
  assert.ok(notBefore < notAfter && notAfter < new Date());
});
