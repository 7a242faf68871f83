/** Private keys, with the operations that certificates need. */
import { integer, octets, sequence, TAG } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { decodePem, encodePem } from "../der/pem.ts";

/** A private key that can sign certificates. */
export interface PrivateKey {
  /** The key in PEM, in the format that sprig writes, even if the key was read from another format. */
  readonly pem: () => string;
  /** SubjectPublicKeyInfo in DER. */
  readonly publicKey: () => Uint8Array;
  /** The AlgorithmIdentifier of the key's signatures, in DER. */
  readonly algorithm: Uint8Array;
  /** Signs a message. Throws if the key is too short to be secure. */
  readonly sign: (message: Uint8Array) => Uint8Array;
}

/**
 * Returns an RSA or ECDSA key in PKCS #8 (RFC 5208), as PEM. PKCS #8 wraps the key in its own format (PKCS #1 or SEC 1)
 * and names the algorithm.
 */
export function pkcs8Pem(key: PrivateKey): string {
  const own = decodePem(key.pem());
  if (own === undefined || own.type === "PRIVATE KEY") return key.pem();
  const algorithm = new DerReader(key.publicKey()).sequence().take(TAG.sequence).whole;
  return encodePem("PRIVATE KEY", sequence(integer(0), algorithm, octets(own.bytes)));
}
