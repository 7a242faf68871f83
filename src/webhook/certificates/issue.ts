/** Issues the self-managed certificates: an authority and serving certificates. */
import {
  createCertificate,
  encodePem,
  generateEcKey,
  numberOf,
  type PrivateKey,
  readCertificate,
  readCertificateInfo,
} from "../../golang/x509/mod.ts";

/** A certificate in DER and its key, ECDSA on P-256. */
export interface Issued {
  readonly certificate: Uint8Array;
  readonly key: PrivateKey;
}

/** The validity of a certificate. */
export interface Validity {
  readonly now: Date;
  /** Milliseconds. */
  readonly lifetime: number;
}

/** Certificates are valid from this long before now: the clock of the API server may be behind. */
export const CLOCK_SKEW = 10 * 60_000;

const AUTHORITY = "kubectl-mesh webhook authority";

/** A new authority. */
export function issueAuthority(validity: Validity): Issued {
  const key = generateEcKey();
  const request = { ...requestFor(validity), commonName: AUTHORITY, dnsNames: [], isAuthority: true };
  return { certificate: createCertificate(request, key, { certificate: undefined, key }), key };
}

/**
 * A serving certificate for DNS names, signed by an authority, which it does not outlive. It has no common name: Go ignores it
 * since 1.15, and it holds only 64 characters.
 */
export function issueServing(authority: Issued, dnsNames: readonly string[], validity: Validity): Issued {
  const key = generateEcKey();
  const base = requestFor(validity);
  const last = secondsOf(readCertificateInfo(authority.certificate).notAfter);
  const notAfter = base.notAfter < last ? base.notAfter : last;
  const request = { ...base, notAfter, commonName: "", dnsNames, isAuthority: false };
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

/** A certificate in PEM. */
export function certificatePem(der: Uint8Array): string {
  return encodePem("CERTIFICATE", der);
}

/** The DNS names of a Service (Kubernetes, "DNS for Services and Pods"); the API server uses `.svc`. */
export function serviceNames(service: string, namespace: string, clusterDomain: string): string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.${clusterDomain}`];
}
