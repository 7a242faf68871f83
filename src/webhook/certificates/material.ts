/** What replicas share: the serving certificate and the authorities, as a Secret holds them. */
import type { KubeObject } from "../../core/kube/client/api.ts";
import { isMap, type Value } from "../../core/value.ts";
import { decodePems, isSignedBy, readCertificateInfo, readPrivateKey, sameBytes } from "../../core/x509/mod.ts";
import { certificatePem, type Issued } from "./issue.ts";

/** Certificates and keys in use. */
export interface Material {
  readonly serving: Issued;
  /** What signs. */
  readonly authority: Issued;
  /** Authorities that signed before, in DER, the newest first: still trusted, their keys are gone. */
  readonly retired: readonly Uint8Array[];
}

/** Keys of the Secret's data: those of a Secret of type kubernetes.io/tls, and those that cert-manager uses for the rest. */
const DATA = { certificate: "tls.crt", key: "tls.key", bundle: "ca.crt", authorityKey: "ca.key" } as const;

/** There are two while one replaces the other; whoever writes more into the Secret shall not keep this program busy. */
const MAX_AUTHORITIES = 8;

/** What marks a Secret that this program made, and may write. */
export const MANAGED_BY: Readonly<Record<string, string>> = { "app.kubernetes.io/managed-by": "kubectl-mesh" };

/** The certificates of all authorities as text, the newest first: the caBundle. */
export function bundleOf({ authority, retired }: Material): string {
  return [authority.certificate, ...retired].map(certificatePem).join("");
}

/** The data of a Secret. */
export function secretData(material: Material): Record<string, string> {
  return {
    [DATA.certificate]: btoa(certificatePem(material.serving.certificate)),
    [DATA.key]: btoa(material.serving.key.pem()),
    [DATA.bundle]: btoa(bundleOf(material)),
    [DATA.authorityKey]: btoa(material.authority.key.pem()),
  };
}

/** What a Secret holds; `undefined` if any part is absent, unreadable, or does not belong to the others. */
export function materialOf(secret: KubeObject): Material | undefined {
  try {
    return readMaterial(secret);
  } catch {
    return undefined;
  }
}

function readMaterial(secret: KubeObject): Material | undefined {
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

/** An entry of the data, with a character for each byte; empty if it is not there. */
function entry(secret: KubeObject, key: string): string {
  const text = mapIn(secret, "data")?.[key];
  return typeof text === "string" ? atob(text) : "";
}

/** Whether somebody else put a certificate or a key into the Secret. */
export function isForeign(secret: KubeObject): boolean {
  const labels = mapIn(secret.metadata, "labels") ?? {};
  if (Object.entries(MANAGED_BY).every(([name, value]) => labels[name] === value)) return false;
  const data = mapIn(secret, "data") ?? {};
  return Object.values(data).some((text) => text !== "");
}

function mapIn(object: Readonly<Record<string, Value>>, key: string) {
  const value = object[key];
  return isMap(value) ? value : undefined;
}
