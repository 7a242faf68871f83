import assert from "node:assert/strict";
import { decodeResponse, encodeRequest } from "./messages.ts";

/** By the field numbers of istio/api security/v1alpha1/ca.proto and of google/protobuf/struct.proto. */
Deno.test("encodeRequest() writes the fields of IstioCertificateRequest", () => {
  const bytes = encodeRequest({ csr: "csr", validitySeconds: 86_400, certSigner: "x" });
  const metadata = [
    0x22,
    0x13,
    0x0a,
    0x11,
    0x0a,
    0x0a,
    ...new TextEncoder().encode("CertSigner"),
    0x12,
    0x03,
    0x1a,
    0x01,
    0x78,
  ];
  assert.deepEqual([...bytes], [0x0a, 0x03, 0x63, 0x73, 0x72, 0x18, 0x80, 0xa3, 0x05, ...metadata]);
  assert.deepEqual([...encodeRequest({ csr: "c", validitySeconds: 0, certSigner: "" })], [0x0a, 0x01, 0x63]);
});

Deno.test("decodeResponse() reads the chain and skips unknown fields", () => {
  const bytes = Uint8Array.of(0x0a, 0x01, 0x61, 0x10, 0x05, 0x12, 0x01, 0x7a, 0x0a, 0x01, 0x62);
  assert.deepEqual(decodeResponse(bytes), ["a", "b"]);
  assert.deepEqual(decodeResponse(new Uint8Array()), []);
  assert.throws(() => decodeResponse(Uint8Array.of(0x0a, 0x7f, 0x61)));
});
