/** Reads the validity, the names and the public key of a certificate. */
import { binaryOf } from "../../base/bytes.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { TAG } from "./der/der.ts";
import { DerReader, type Element } from "./der/der_reader.ts";
import { encodePem } from "./der/pem.ts";
import { readCertificate } from "./read_certificate.ts";

/** The fields of a certificate that this program uses. */
export interface CertificateInfo {
  /** The name of the authority that signed the certificate, in DER. */
  readonly issuer: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly dnsNames: readonly string[];
  /** Names such as `spiffe://cluster.local/ns/default/sa/default`. */
  readonly uris: readonly string[];
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: Uint8Array;
}

const ALTERNATIVE_NAMES = "2.5.29.17";
const DNS_NAME = 0x82;
const URI = 0x86;

/** Reads a certificate in DER. Throws if the bytes are not a certificate. */
export function readCertificateInfo(der: Uint8Array): CertificateInfo {
  const { publicKey, issuer, validity, extensions } = readCertificate(der);
  const [notBefore, notAfter] = [dateOf(validity.any()), dateOf(validity.any())];
  const names = alternativeNames(extensions.get(ALTERNATIVE_NAMES));
  const named = (wanted: number) => names.filter(({ tag }) => tag === wanted).map(({ content }) => binaryOf(content));
  return { issuer, notBefore, notAfter, dnsNames: named(DNS_NAME), uris: named(URI), publicKey };
}

/** Reads a UTCTime or GeneralizedTime, which are in UTC and in whole seconds (RFC 5280, 4.1.2.5). */
function dateOf({ tag, content }: Element): Date {
  const digits = binaryOf(content);
  const isShort = tag === TAG.utcTime;
  const [year = "", ...rest] = /^(\d+)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(digits)?.slice(1) ?? [];
  if (year.length !== (isShort ? 2 : 4)) throw new Error("x509: malformed validity");
  const century = isShort ? (Number(year) < 50 ? "20" : "19") : "";
  const [month, day, hour, minute, second] = rest;
  const date = new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  if (Number.isNaN(date.getTime())) throw new Error("x509: malformed validity");
  return date;
}

function alternativeNames(extension: Uint8Array | undefined): Element[] {
  if (extension === undefined) return [];
  const names: Element[] = [];
  const reader = new DerReader(extension).sequence();
  while (!reader.atEnd) names.push(reader.any());
  return names;
}

/** Whether the issuer's key signed the certificate, by ECDSA or RSA with SHA-256. */
export function isSignedBy(der: Uint8Array, issuer: Uint8Array): boolean {
  const outer = new DerReader(der).sequence();
  const signed = outer.any().whole;
  outer.any();
  const { createPublicKey, verify } = nodeCrypto();
  const publicKey = createPublicKey(encodePem("PUBLIC KEY", readCertificate(issuer).publicKey));
  return verify("sha256", signed, publicKey, outer.bits());
}
