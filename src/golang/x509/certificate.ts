/** Creates X.509 certificates and certificate signing requests as Go's crypto/x509 does. */
import { bytesOfBinary, sameBytes } from "../../base/bytes.ts";
import { nodeCrypto } from "../../base/node_crypto.ts";
import { bits, element, explicit, implicit, integer, octets, oid, sequence, TAG, text, time, TRUE } from "./der/der.ts";
import { DerReader } from "./der/der_reader.ts";
import type { PrivateKey } from "./keys/private_key.ts";

/** The contents of a new certificate. */
export interface Request {
  readonly commonName: string;
  /** An IPv4 address has 4 bytes, even if it was written as IPv6. */
  readonly addresses: readonly Uint8Array[];
  readonly dnsNames: readonly string[];
  /** URI names such as `spiffe://cluster.local/ns/default/sa/default`; none by default. */
  readonly uris?: readonly string[];
  /** Seconds since 1970. */
  readonly notBefore: bigint;
  readonly notAfter: bigint;
  readonly serial: bigint;
  readonly isAuthority: boolean;
}

/** The issuer: its certificate and its key. */
export interface Issuer {
  /** `undefined` for a self-signed certificate. */
  readonly certificate: Parent | undefined;
  readonly key: PrivateKey;
}

/** The parts of a signing certificate that a new certificate repeats, in DER. */
export interface Parent {
  readonly subject: Uint8Array;
  readonly publicKey: Uint8Array;
  /** The contents of the subject key identifier; empty if the certificate has none. */
  readonly keyId: Uint8Array;
}

const EXTENSION_REQUEST = "1.2.840.113549.1.9.14";
const KEY_USAGE = "2.5.29.15";
const EXTENDED_KEY_USAGE = "2.5.29.37";
const BASIC_CONSTRAINTS = "2.5.29.19";
const SUBJECT_KEY_ID = "2.5.29.14";
const AUTHORITY_KEY_ID = "2.5.29.35";
const ALTERNATIVE_NAMES = "2.5.29.17";
const COMMON_NAME = "2.5.4.3";
const SERVER_AUTH = "1.3.6.1.5.5.7.3.1";
const CLIENT_AUTH = "1.3.6.1.5.5.7.3.2";
/** The tags of alternative names. */
const DNS_NAME = 2;
const URI = 6;

/**
 * Creates a certificate for a key, in DER. Throws if the issuer's key does not belong to its certificate or is too short
 * to be secure, or if a name has characters beyond ASCII.
 */
export function createCertificate(
  request: Request,
  key: Pick<PrivateKey, "publicKey">,
  issuer: Issuer,
): Uint8Array {
  const publicKey = key.publicKey();
  const subject = nameOf(request.commonName);
  const parent = issuer.certificate ?? { subject, publicKey, keyId: new Uint8Array() };
  if (!sameBytes(parent.publicKey, issuer.key.publicKey())) {
    throw new Error("x509: provided PrivateKey doesn't match parent's PublicKey");
  }
  const signed = sequence(
    explicit(0, integer(2)),
    integer(request.serial),
    issuer.key.algorithm,
    parent.subject,
    sequence(time(request.notBefore), time(request.notAfter)),
    subject,
    publicKey,
    explicit(3, sequence(...extensions(request, subject, publicKey, parent))),
  );
  return signedBy(issuer.key, signed);
}

function signedBy({ algorithm, sign }: PrivateKey, signed: Uint8Array): Uint8Array {
  return sequence(signed, algorithm, bits(sign(signed)));
}

/** A distinguished name that contains only a common name; an empty distinguished name if the common name is empty. */
function nameOf(commonName: string): Uint8Array {
  if (commonName === "") return sequence();
  return sequence(element(TAG.set, sequence(oid(COMMON_NAME), text(commonName))));
}

/** The extensions of a new certificate, in the order in which Go writes them. */
function extensions(request: Request, subject: Uint8Array, publicKey: Uint8Array, parent: Parent): Uint8Array[] {
  const { isAuthority } = request;
  const isSelfIssued = sameBytes(parent.subject, subject);
  const names = alternativeNames(request);
  return [
    // Digital signature and key encipherment. An authority can also sign certificates.
    extension(KEY_USAGE, true, isAuthority ? bits(Uint8Array.of(0b10100100), 2) : bits(Uint8Array.of(0b10100000), 5)),
    extension(EXTENDED_KEY_USAGE, false, sequence(oid(SERVER_AUTH), oid(CLIENT_AUTH))),
    extension(BASIC_CONSTRAINTS, true, isAuthority ? sequence(TRUE) : sequence()),
    ...(isAuthority ? [extension(SUBJECT_KEY_ID, false, octets(keyIdOf(publicKey)))] : []),
    ...(isSelfIssued || parent.keyId.length === 0
      ? []
      : [extension(AUTHORITY_KEY_ID, false, sequence(implicit(0, parent.keyId)))]),
    ...(names.length === 0 ? [] : [extension(ALTERNATIVE_NAMES, request.commonName === "", sequence(...names))]),
  ];
}

/**
 * Creates a certificate signing request in DER with one alternative name, a URI, and without a subject (SPIFFE
 * X.509-SVID, 2). The name is critical because the subject is empty (RFC 5280, 4.2.1.6). Throws if the URI has
 * characters beyond ASCII.
 */
export function createRequest(uri: string, key: PrivateKey): Uint8Array {
  const names = extension(ALTERNATIVE_NAMES, true, sequence(nameText(URI, uri)));
  const attribute = sequence(oid(EXTENSION_REQUEST), element(TAG.set, sequence(names)));
  const signed = sequence(integer(0), sequence(), key.publicKey(), explicit(0, attribute));
  return signedBy(key, signed);
}

/** An extension. `value` is the content of its OCTET STRING. */
function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(critical ? [TRUE] : []), octets(value));
}

function alternativeNames({ dnsNames, addresses, uris = [] }: Request): Uint8Array[] {
  return [
    ...dnsNames.map((name) => nameText(DNS_NAME, name)),
    ...addresses.map((address) => implicit(7, address)),
    ...uris.map((uri) => nameText(URI, uri)),
  ];
}

/** An alternative name that is a text. Throws if the text has characters beyond ASCII. */
function nameText(tag: number, name: string): Uint8Array {
  // deno-lint-ignore no-control-regex -- the range of IA5String
  if (/^[\x00-\x7f]*$/.test(name)) return implicit(tag, bytesOfBinary(name));
  const hint = tag === DNS_NAME ? "; write the name in punycode" : "";
  throw new Error(`The name ${JSON.stringify(name)} has characters that a certificate cannot contain${hint}`);
}

/** The first 160 bits of the key's SHA-256 (RFC 7093, 2.1), as in Go since 1.25. */
function keyIdOf(publicKey: Uint8Array): Uint8Array {
  const info = new DerReader(publicKey).sequence();
  info.any();
  return nodeCrypto().createHash("sha256").update(info.bits()).digest().subarray(0, 20);
}
