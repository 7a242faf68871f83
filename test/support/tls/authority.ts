/** Certificate authorities for tests. */
import { createCertificate, encodePem, generateEcKey, readCertificate } from "../../../src/golang/x509/mod.ts";

/** Fields of a certificate, which is valid from 100 days ago until `days` days from now. */
export interface Wanted {
  readonly dnsNames?: readonly string[];
  readonly uris?: readonly string[];
  readonly days?: bigint;
}

const DAY = 24n * 3600n;

/** Makes an authority with a unique name. All texts are PEM. */
export function testAuthority() {
  const now = BigInt(Math.floor(Date.now() / 1000));
  const common = { notBefore: now - 100n * DAY, addresses: [] };
  const authorityKey = generateEcKey();
  const der = createCertificate(
    {
      ...common,
      notAfter: now + 10n * DAY,
      dnsNames: [],
      commonName: `authority ${crypto.randomUUID()}`,
      serial: 1n,
      isAuthority: true,
    },
    authorityKey,
    { certificate: undefined, key: authorityKey },
  );
  const issuer = { certificate: readCertificate(der), key: authorityKey };
  return {
    roots: encodePem("CERTIFICATE", der),
    issue({ dnsNames = [], uris = [], days = 10n }: Wanted) {
      const key = generateEcKey();
      const request = {
        ...common,
        notAfter: now + days * DAY,
        dnsNames,
        uris,
        commonName: "",
        serial: 2n,
        isAuthority: false,
      };
      return { certificate: encodePem("CERTIFICATE", createCertificate(request, key, issuer)), key: key.pem() };
    },
  };
}
