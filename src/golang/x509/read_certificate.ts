/** Reads the parts of a certificate, with the error texts of Go's x509.ParseCertificate. */
import type { Parent } from "./certificate.ts";
import { TAG } from "./der/der.ts";
import { DerReader, sameBytes } from "./der/der_reader.ts";

/** The parts of a certificate. */
interface CertificateParts extends Parent {
  /** The name of the authority that signed the certificate, in DER. */
  readonly issuer: Uint8Array;
  readonly validity: DerReader;
  /** The values of the extensions by identifier. */
  readonly extensions: ReadonlyMap<string, Uint8Array>;
}

/**
 * Reads a certificate in DER. Checks the key identifier, but neither the validity nor other extensions. Throws if the
 * bytes are not a certificate.
 */
export function readCertificate(der: Uint8Array): CertificateParts {
  const outer = new DerReader(der);
  const certificate = read("malformed certificate", () => outer.sequence());
  const tbs = read("malformed tbs certificate", () => certificate.sequence());
  const version = readVersion(tbs);
  const serial = read("malformed serial number", () => tbs.integer());
  if (serial < 0n) throw new Error("x509: negative serial number");
  checkAlgorithms(tbs, certificate);
  const issuer = read("malformed issuer", () => tbs.take(TAG.sequence).whole);
  const validity = read("malformed validity", () => tbs.sequence());
  const subject = read("malformed issuer", () => tbs.take(TAG.sequence).whole);
  const publicKey = read("malformed spki", () => tbs.take(TAG.sequence).whole);
  checkPublicKey(publicKey);
  const extensions = version === 2n ? readExtensions(tbs) : new Map<string, Uint8Array>();
  read("malformed signature", () => certificate.bits());
  if (!outer.atEnd) throw new Error("x509: trailing data");
  return { issuer, validity, subject, publicKey, keyId: keyIdIn(extensions), extensions };
}

function read<T>(problem: string, take: () => T): T {
  try {
    return take();
  } catch {
    // The DER is malformed in this part. Go names the part, not the byte.
    throw new Error(`x509: ${problem}`);
  }
}

/** Reads the version of a certificate. 0 means version 1. */
function readVersion(tbs: DerReader): bigint {
  const version = read("malformed version", () => {
    const tagged = tbs.optional(0xa0);
    return tagged === undefined ? 0n : new DerReader(tagged.content).integer();
  });
  if (version < 0n) throw new Error("x509: malformed version");
  if (version > 2n) throw new Error("x509: invalid version");
  return version;
}

/** Checks that the two signature algorithms of a certificate are equal. */
function checkAlgorithms(tbs: DerReader, certificate: DerReader): void {
  const inner = read("malformed signature algorithm identifier", () => tbs.take(TAG.sequence).content);
  const outer = read("malformed algorithm identifier", () => certificate.take(TAG.sequence).content);
  if (!sameBytes(inner, outer)) {
    throw new Error("x509: inner and outer signature algorithm identifiers don't match");
  }
}

function checkPublicKey(publicKey: Uint8Array): void {
  const info = read("malformed spki", () => new DerReader(publicKey).sequence());
  const algorithm = read("malformed public key algorithm identifier", () => info.sequence());
  read("malformed OID", () => algorithm.oid());
  read("malformed subjectPublicKey", () => info.bits());
}

/** The subject key identifier; empty if the certificate has none. */
function keyIdIn(extensions: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const keyId = extensions.get("2.5.29.14");
  if (keyId === undefined) return new Uint8Array();
  return read("invalid subject key identifier", () => new DerReader(keyId).take(TAG.octets).content);
}

/** Reads the extensions. The reader must be at the end of the public key. */
function readExtensions(tbs: DerReader): ReadonlyMap<string, Uint8Array> {
  const seen = new Map<string, Uint8Array>();
  const tagged = read("malformed extensions", () => {
    for (const uniqueId of [0x81, 0x82]) tbs.optional(uniqueId);
    return tbs.optional(0xa3);
  });
  if (tagged === undefined) return seen;
  const extensions = read("malformed extensions", () => new DerReader(tagged.content).sequence());
  while (!extensions.atEnd) {
    const { id, value } = readExtension(read("malformed extension", () => extensions.sequence()));
    if (seen.has(id)) throw new Error(`x509: certificate contains duplicate extension with OID "${id}"`);
    seen.set(id, value);
  }
  return seen;
}

function readExtension(extension: DerReader): { readonly id: string; readonly value: Uint8Array } {
  const id = read("malformed extension OID field", () => extension.oid());
  const critical = read("malformed extension critical field", () => extension.optional(TAG.boolean));
  const value = read("malformed extension value field", () => extension.take(TAG.octets).content);
  if (id === "2.5.29.14" && critical?.content[0] === 0xff) {
    throw new Error("x509: subject key identifier incorrectly marked critical");
  }
  return { id, value };
}
