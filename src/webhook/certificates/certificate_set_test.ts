import assert from "node:assert/strict";
import type { KubeObject } from "../../kube/client/api.ts";
import { bundleOf, type CertificateSet, certificatesOf, isForeign, MANAGED_BY, secretData } from "./certificate_set.ts";
import { LIFETIMES, nextRenewal } from "./renewal.ts";

function certificates(now = "2026-11-21T00:00:00Z"): CertificateSet {
  const context = { dnsNames: ["a.b.svc"], lifetimes: LIFETIMES, now: new Date(now), jitter: 0 };
  const renewal = nextRenewal(undefined, context);
  assert(renewal !== undefined);
  return renewal.certificates;
}

function secret(data: Record<string, string>, labels: Record<string, string> = MANAGED_BY): KubeObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name: "s", labels }, type: "kubernetes.io/tls", data };
}

Deno.test("a Secret round-trips the certificates", () => {
  const held = { ...certificates(), retired: [certificates().authority.certificate] };
  const read = certificatesOf(secret(secretData(held)));
  assert(read !== undefined);
  assert.deepEqual(secretData(read), secretData(held));
  assert.equal(bundleOf(read).match(/BEGIN CERTIFICATE/g)?.length, 2);
  assert.deepEqual(Object.keys(secretData(held)), ["tls.crt", "tls.key", "ca.crt", "ca.key"]);
});

const [whole, other] = [secretData(certificates()), secretData(certificates())];
const BROKEN: Readonly<Record<string, Record<string, string>>> = {
  "nothing": {},
  "no authority": { ...whole, "ca.crt": "" },
  "no key of the authority": { ...whole, "ca.key": "" },
  "a key that is no base64": { ...whole, "tls.key": "%" },
  "a certificate that is none": {
    ...whole,
    "tls.crt": btoa("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"),
  },
  "the key of another certificate": { ...whole, "tls.key": other["tls.key"] ?? "" },
  "the key of another authority": { ...whole, "ca.key": other["ca.key"] ?? "" },
  "another authority": { ...whole, "ca.crt": other["ca.crt"] ?? "", "ca.key": other["ca.key"] ?? "" },
};

for (const [what, data] of Object.entries(BROKEN)) {
  Deno.test(`a Secret with ${what} has no usable certificates`, () => {
    assert.equal(certificatesOf(secret(data)), undefined);
  });
}

Deno.test("of a long bundle the newest authorities count", () => {
  const { serving, authority } = certificates();
  const retired = Array.from({ length: 20 }, () => authority.certificate);
  assert.equal(certificatesOf(secret(secretData({ serving, authority, retired })))?.retired.length, 7);
});

Deno.test("a Secret with data and without the label is foreign", () => {
  assert.deepEqual(
    [secret(whole), secret(whole, {}), secret({}, {}), secret({ "tls.crt": "", "tls.key": "" }, { a: "b" })].map(
      isForeign,
    ),
    [false, true, false, false],
  );
});
