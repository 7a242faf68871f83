/** Issues the self-managed certificates: a certificate authority (CA) and serving certificates. */
import {
  createCertificate,
  encodePem,
  generateEcKey,
  numberOf,
  type PrivateKey,
  readCertificate,
} from "../../golang/x509/mod.ts";

/** A certificate in DER, with its private key (ECDSA on P-256). */
export interface Issued {
  readonly certificate: Uint8Array;
  readonly key: PrivateKey;
}

export interface Validity {
  readonly now: Date;
  /** Lifetime in milliseconds. */
  readonly lifetime: number;
}

/** Milliseconds by which certificates are backdated, because the API server's clock may be slow. */
export const CLOCK_SKEW = 10 * 60_000;

const AUTHORITY = "kubectl-mesh webhook authority";

export function issueAuthority(validity: Validity): Issued {
  const key = generateEcKey();
  const request = { ...requestFor(validity), commonName: AUTHORITY, dnsNames: [], isAuthority: true };
  return { certificate: createCertificate(request, key, { certificate: undefined, key }), key };
}

/**
 * Issues a serving certificate for DNS names. It expires no later than the CA. It has no common name: Go ignores common names
 * since 1.15, and they are limited to 64 characters.
 */
export function issueServing(authority: Issued, dnsNames: readonly string[], validity: Validity): Issued {
  const key = generateEcKey();
  const base = requestFor(validity);
  const last = secondsOf(readCertificate(authority.certificate).notAfter);
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

export function certificatePem(der: Uint8Array): string {
  return encodePem("CERTIFICATE", der);
}

/** Returns a Service's DNS names (Kubernetes, "DNS for Services and Pods"). The API server uses the one that ends in `.svc`. */
export function serviceNames(service: string, namespace: string): string[] {
  return [`${service}.${namespace}.svc`, `${service}.${namespace}.svc.cluster.local`];
}
