import assert from "node:assert/strict";
import { testCertificate } from "../../../test/support/tls/certificates.ts";
import { decodePem, distinguishedName, readCertificate } from "./mod.ts";

Deno.test("distinguishedName() writes the attributes with their short names", () => {
  const der = decodePem(testCertificate().authority)?.bytes ?? assert.fail();
  assert.match(distinguishedName(readCertificate(der).subject), /^(CN|O)=\S/);
});

Deno.test("distinguishedName() rejects other bytes", () => {
  assert.throws(() => distinguishedName(new Uint8Array([2, 1, 1])));
});
