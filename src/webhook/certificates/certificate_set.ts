/** The certificates that replicas share in a Secret: the serving certificate and the authorities. */
import type { Secret } from "../../kube/client/mod.ts";
import { decodePems, isSignedBy, readCertificateInfo, readPrivateKey, sameBytes } from "../../golang/x509/mod.ts";
import { certificatePem, type Issued } from "./issue.ts";

/** Certificates and keys in use. */
export interface CertificateSet {
  readonly serving: Issued;
  /** The authority that signs. */
  readonly authority: Issued;
  /** Previous authorities in DER, the newest first: still trusted, without keys. */
  readonly retired: readonly Uint8Array[];
}

/** The keys of the Secret's data: the names of the type kubernetes.io/tls, and cert-manager's names for the rest. */
const DATA = { certificate: "tls.crt", key: "tls.key", bundle: "ca.crt", authorityKey: "ca.key" } as const;

/** Two during a rotation. The limit bounds the work if another program adds more. */
const MAX_AUTHORITIES = 8;

/** The type of the Secret: the manifests ship it empty, which kubernetes.io/tls does not allow. */
export const SECRET_TYPE = "Opaque";

/** The label of an owned Secret. */
export const MANAGED_BY: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "kubectl-mesh" };

/** The caBundle: all authorities in PEM, the newest first. */
export function bundleOf({ authority, retired }: CertificateSet): string {
  return [authority.certificate, ...retired].map(certificatePem).join("");
}

/** The data of a Secret. */
export function secretData(certificates: CertificateSet): Record<string, string> {
  return {
    [DATA.certificate]: btoa(certificatePem(certificates.serving.certificate)),
    [DATA.key]: btoa(certificates.serving.key.pem()),
    [DATA.bundle]: btoa(bundleOf(certificates)),
    [DATA.authorityKey]: btoa(certificates.authority.key.pem()),
  };
}

/** The certificates in a Secret; `undefined` if any part is absent, unreadable or does not match the others. */
export function certificatesOf(secret: Secret): CertificateSet | undefined {
  try {
    return readCertificates(secret);
  } catch {
    // A part is absent, unreadable, or does not match the others.
    return undefined;
  }
}

function readCertificates(secret: Secret): CertificateSet | undefined {
  const [newest, ...retired] = certificatesIn(entry(secret, DATA.bundle)).slice(0, MAX_AUTHORITIES);
  const [certificate] = certificatesIn(entry(secret, DATA.certificate));
  if (newest === undefined || certificate === undefined) return undefined;
  const authority = { certificate: newest, key: readPrivateKey(entry(secret, DATA.authorityKey)) };
  const serving = { certificate, key: readPrivateKey(entry(secret, DATA.key)) };
  const isWhole = [authority, serving].every(({ certificate, key }) => {
    return sameBytes(readCertificateInfo(certificate).publicKey, key.publicKey());
  });
  const isTrusted = [newest, ...retired].some((each) => isSignedBy(certificate, each));
  return isWhole && isTrusted ? { serving, authority, retired } : undefined;
}

function certificatesIn(binary: string): Uint8Array[] {
  return decodePems(binary).filter(({ type }) => type === "CERTIFICATE").map(({ bytes }) => bytes);
}

/** An entry of the data as a binary string; empty if absent. */
function entry(secret: Secret, key: string): string {
  return atob(secret.data?.[key] ?? "");
}

/** Whether another program wrote a certificate or a key to the Secret. */
export function isForeign({ metadata: { labels = {} }, data = {} }: Secret): boolean {
  if (Object.entries(MANAGED_BY).every(([name, value]) => labels[name] === value)) return false;
  return Object.values(data).some((text) => text !== "");
}
