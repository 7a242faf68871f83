/** Makes the keys and certificates that the webhook keeps by itself: an authority, and what it signs. */
import {
  createCertificate,
  encodePem,
  generateEcKey,
  numberOf,
  type PrivateKey,
  readCertificate,
  readCertificateInfo,
} from "../../core/x509/mod.ts";

/** A certificate in DER and its key, ECDSA on P-256. */
export interface Issued {
  readonly certificate: Uint8Array;
  readonly key: PrivateKey;
}

/** How long a certificate is valid. */
export interface Validity {
  readonly now: Date;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** A certificate is valid from a little before it was made: the clock of the API server may be behind. */
export const CLOCK_SKEW = 10 * 60_000;

const AUTHORITY = "kubectl-mesh webhook authority";

/** A new authority. */
export function issueAuthority(validity: Validity): Issued {
  const key = generateEcKey();
  const request = { ...requestFor(validity), commonName: AUTHORITY, dnsNames: [], isAuthority: true };
  return { certificate: createCertificate(request, key, { certificate: undefined, key }), key };
}

/**
 * A serving certificate for DNS names, signed by an authority, which it does not outlive. The names are alternative names
 * alone: Go, which the API server is written in, has not read the common name since 1.15, and its 64 characters are few.
 */
export function issueServing(authority: Issued, dnsNames: readonly string[], validity: Validity): Issued {
  const key = generateEcKey();
  const asked = requestFor(validity);
  const last = secondsOf(readCertificateInfo(authority.certificate).notAfter);
  const notAfter = asked.notAfter < last ? asked.notAfter : last;
  const request = { ...asked, notAfter, commonName: "", dnsNames, isAuthority: false };
  const issuer = { certificate: readCertificate(authority.certificate), key: authority.key };
  return { certificate: createCertificate(request, key, issuer), key };
}

function requestFor({ now, lifetime }: Validity) {
  return {
    addresses: [],
    notBefore: secondsOf(new Date(now.getTime() - CLOCK_SKEW)),
    notAfter: secondsOf(new Date(now.getTime() + lifetime)),
    serial: numberOf(crypto.getRandomValues(new Uint8Array(16))),
  };
}

function secondsOf(date: Date): bigint {
  return BigInt(Math.floor(date.getTime() / 1000));
}

/** A certificate as text. */
export function certificatePem(der: Uint8Array): string {
  return encodePem("CERTIFICATE", der);
}

/** The DNS names by which a cluster calls a Service (Kubernetes, "DNS for Services and Pods"; the API server uses `.svc`). */
export function serviceNames(service: string, namespace: string, clusterDomain: string): string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.${clusterDomain}`];
}
