/** Certificates for test servers, each signed by a new authority. */
import { createCertificate, encodePem, generateEcKey, readCertificate } from "../../../src/golang/x509/mod.ts";

/** A serving certificate for a name and 127.0.0.1, its key, and the authority to trust. All texts are PEM. */
export interface TestCertificate {
  readonly certificate: string;
  readonly key: string;
  readonly authority: string;
}

const DAY = 24n * 3600n;

/** Makes a certificate that is valid for this many days; it is expired if the number is negative. */
export function testCertificate(days = 10n, dnsName = "localhost"): TestCertificate {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const notBefore = now - 100n * DAY;
  const common = {
    notBefore,
    notAfter: now + days * DAY,
    dnsNames: [dnsName],
    addresses: [Uint8Array.of(127, 0, 0, 1)],
  };
  const authorityKey = generateEcKey();
  const authority = createCertificate(
    { ...common, commonName: `authority ${crypto.randomUUID()}`, serial: 1n, isAuthority: true },
    authorityKey,
    { certificate: undefined, key: authorityKey },
  );
  const key = generateEcKey();
  const certificate = createCertificate({ ...common, commonName: "server", serial: 2n, isAuthority: false }, key, {
    certificate: readCertificate(authority),
    key: authorityKey,
  });
  return {
    certificate: encodePem("CERTIFICATE", certificate),
    key: key.pem(),
    authority: encodePem("CERTIFICATE", authority),
  };
}
