import { binaryOf, sameBytes } from "../../base/bytes.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import type { Parent } from "./certificate.ts";
import { TAG } from "./der/der.ts";
import { DerReader, type Element } from "./der/der_reader.ts";
import { encodePem } from "./der/pem.ts";

/** The fields of a certificate that this program uses. */
export interface CertificateInfo extends Parent {
  /** The name of the authority that signed the certificate, in DER. */
  readonly issuer: Uint8Array;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly dnsNames: readonly string[];
  /** Names such as `spiffe://cluster.local/ns/default/sa/default`. */
  readonly uris: readonly string[];
}

const SUBJECT_KEY_ID = "2.5.29.14";
const ALTERNATIVE_NAMES = "2.5.29.17";
const DNS_NAME = 0x82;
const URI = 0x86;

/** Reads a certificate in DER. Throws if the bytes are not a certificate. */
export function readCertificate(der: Uint8Array): CertificateInfo {
  try {
    return read(der);
  } catch {
    // The reason is an offset in the DER, which helps nobody.
    throw new Error("x509: malformed certificate");
  }
}

function read(der: Uint8Array): CertificateInfo {
  const outer = new DerReader(der);
  const certificate = outer.sequence();
  const tbs = certificate.sequence();
  const version = tbs.optional(0xa0);
  check(outer.atEnd && (version === undefined || [0n, 1n, 2n].includes(new DerReader(version.content).integer())));
  check(tbs.integer() >= 0n);
  check(sameBytes(tbs.take(TAG.sequence).content, certificate.take(TAG.sequence).content));
  certificate.bits();
  const issuer = tbs.take(TAG.sequence).whole;
  const validity = tbs.sequence();
  const [notBefore, notAfter] = [dateOf(validity.any()), dateOf(validity.any())];
  const subject = tbs.take(TAG.sequence).whole;
  const publicKey = tbs.take(TAG.sequence).whole;
  const key = new DerReader(publicKey).sequence();
  key.sequence().oid();
  key.bits();
  const extensions = readExtensions(tbs);
  const keyId = extensions.get(SUBJECT_KEY_ID)?.take(TAG.octets).content ?? new Uint8Array();
  const names = elementsOf(extensions.get(ALTERNATIVE_NAMES)?.sequence());
  const named = (wanted: number) => names.filter(({ tag }) => tag === wanted).map(({ content }) => binaryOf(content));
  return { subject, publicKey, keyId, issuer, notBefore, notAfter, dnsNames: named(DNS_NAME), uris: named(URI) };
}

function check(isValid: boolean): void {
  if (!isValid) throw new Error("malformed");
}

/** The values of the extensions by identifier. The reader must be at the end of the public key. */
function readExtensions(tbs: DerReader): ReadonlyMap<string, DerReader> {
  for (const uniqueId of [0x81, 0x82]) tbs.optional(uniqueId);
  const tagged = tbs.optional(0xa3);
  const extensions = new Map<string, DerReader>();
  const list = tagged === undefined ? undefined : new DerReader(tagged.content).sequence();
  while (list?.atEnd === false) {
    const extension = list.sequence();
    const id = extension.oid();
    const isCritical = extension.optional(TAG.boolean)?.content[0] === 0xff;
    check(!extensions.has(id) && !(isCritical && id === SUBJECT_KEY_ID));
    extensions.set(id, new DerReader(extension.take(TAG.octets).content));
  }
  return extensions;
}

function elementsOf(reader: DerReader | undefined): Element[] {
  const elements: Element[] = [];
  while (reader?.atEnd === false) elements.push(reader.any());
  return elements;
}

/** Reads a UTCTime or GeneralizedTime, which are in UTC and in whole seconds (RFC 5280, 4.1.2.5). */
function dateOf({ tag, content }: Element): Date {
  const isShort = tag === TAG.utcTime;
  const [year = "", ...rest] = /^(\d+)(\d\d)(\d\d)(\d\d)(\d\d)(\d\d)Z$/.exec(binaryOf(content))?.slice(1) ?? [];
  const century = isShort ? (Number(year) < 50 ? "20" : "19") : "";
  const [month, day, hour, minute, second] = rest;
  const date = new Date(`${century}${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  check(year.length === (isShort ? 2 : 4) && !Number.isNaN(date.getTime()));
  return date;
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

/** Attributes by object identifier (RFC 4519). */
const ATTRIBUTES: Readonly<Record<string, string>> = {
  "2.5.4.3": "CN",
  "2.5.4.6": "C",
  "2.5.4.7": "L",
  "2.5.4.8": "ST",
  "2.5.4.10": "O",
  "2.5.4.11": "OU",
  "0.9.2342.19200300.100.1.25": "DC",
};

const decoder = new TextDecoder();

/** A DER name as text, in the order of the DER: `O=cluster.local, CN=root`. Throws if the bytes are not a name. */
export function distinguishedName(der: Uint8Array): string {
  const parts: string[] = [];
  const sets = new DerReader(der).sequence();
  while (!sets.atEnd) {
    const attributes = new DerReader(sets.any().content);
    while (!attributes.atEnd) {
      const attribute = attributes.sequence();
      const type = attribute.oid();
      parts.push(`${ATTRIBUTES[type] ?? type}=${decoder.decode(attribute.any().content)}`);
    }
  }
  return parts.join(", ");
}
