/** Valid and invalid certificates of a webhook behind a Service. */
import { createCertificate, encodePem, generateEcKey, readCertificate } from "../../../../src/golang/x509/mod.ts";
import type { TestCertificate } from "../../../support/tls/certificates.ts";

const DAY = 24n * 3600n;
const SERVICE = "kubectl-mesh-webhook.istio-system.svc";

/** An authority that signs certificates. */
export interface Authority {
  readonly pem: string;
  /** Signs a serving certificate that expires in this many days. */
  sign(options?: { readonly days?: bigint; readonly name?: string }): TestCertificate;
}

/** Makes an authority that has been valid for 100 days and expires in this many days. */
export function makeAuthority(days = 300n): Authority {
  const key = generateEcKey();
  const request = { ...period(days), dnsNames: [], addresses: [], serial: 1n, isAuthority: true };
  const own = createCertificate({ ...request, commonName: `authority ${crypto.randomUUID()}` }, key, {
    certificate: undefined,
    key,
  });
  const pem = encodePem("CERTIFICATE", own);
  return {
    pem,
    sign({ days: left = 300n, name = SERVICE } = {}) {
      const served = generateEcKey();
      const wanted = { ...period(left), dnsNames: [name], addresses: [], serial: 2n, isAuthority: false };
      const parent = { certificate: readCertificate(own), key };
      const certificate = createCertificate({ ...wanted, commonName: "webhook" }, served, parent);
      return { certificate: encodePem("CERTIFICATE", certificate), key: served.pem(), authority: pem };
    },
  };
}

function period(days: bigint) {
  const now = BigInt(Math.floor(Date.now() / 1000));
  return { notBefore: now - 100n * DAY, notAfter: now + days * DAY };
}
