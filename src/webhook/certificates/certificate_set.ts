/** The certificates that replicas share in a Secret: the serving certificate and the certificate authorities (CAs). */
import { sameBytes } from "../../base/bytes.ts";
import type { Secret } from "../../kube/client/mod.ts";
import { decodePems, isSignedBy, readCertificate, readPrivateKey } from "../../golang/x509/mod.ts";
import { certificatePem, type Issued } from "./issue.ts";

export interface CertificateSet {
  readonly serving: Issued;
  /** The CA that signs serving certificates. */
  readonly authority: Issued;
  /** Certificates of previous CAs in DER, newest first. They are still trusted; their keys are discarded. */
  readonly retired: readonly Uint8Array[];
}

/** The keys of the Secret's data. The names are from the type kubernetes.io/tls and from cert-manager. */
const DATA = { certificate: "tls.crt", key: "tls.key", bundle: "ca.crt", authorityKey: "ca.key" } as const;

/** Maximum number of CAs that are read. A rotation needs two; the limit bounds the work if another program adds more. */
const MAX_AUTHORITIES = 8;

/** Type of the Secret. Not kubernetes.io/tls, because the manifests contain an empty Secret, which that type forbids. */
export const SECRET_TYPE = "Opaque";

/** Label that marks the Secret as owned by this program. */
export const MANAGED_BY: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "kubectl-mesh" };

/** Returns the caBundle: all CA certificates in PEM, newest first. */
export function bundleOf({ authority, retired }: CertificateSet): string {
  return [authority.certificate, ...retired].map(certificatePem).join("");
}

/** Encodes certificates and keys as the data of the Secret. */
export function secretData(certificates: CertificateSet): Record<string, string> {
  return {
    [DATA.certificate]: btoa(certificatePem(certificates.serving.certificate)),
    [DATA.key]: btoa(certificates.serving.key.pem()),
    [DATA.bundle]: btoa(bundleOf(certificates)),
    [DATA.authorityKey]: btoa(certificates.authority.key.pem()),
  };
}

/** Decodes the Secret; `undefined` if any part is missing, unreadable or does not match the other parts. */
export function certificatesOf(secret: Secret): CertificateSet | undefined {
  try {
    return readCertificates(secret);
  } catch {
    // A part is unreadable.
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
    return sameBytes(readCertificate(certificate).publicKey, key.publicKey());
  });
  const isTrusted = [newest, ...retired].some((each) => isSignedBy(certificate, each));
  return isWhole && isTrusted ? { serving, authority, retired } : undefined;
}

function certificatesIn(binary: string): Uint8Array[] {
  return decodePems(binary).filter(({ type }) => type === "CERTIFICATE").map(({ bytes }) => bytes);
}

/** Decodes an entry of the Secret's data to a binary string. Empty if the entry is missing. */
function entry(secret: Secret, key: string): string {
  return atob(secret.data?.[key] ?? "");
}

/** Whether the Secret has data but not the label in MANAGED_BY, so that another program owns it. */
export function isForeign({ metadata: { labels = {} }, data = {} }: Secret): boolean {
  if (Object.entries(MANAGED_BY).every(([name, value]) => labels[name] === value)) return false;
  return Object.values(data).some((text) => text !== "");
}
