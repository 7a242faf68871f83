/** What certificates need of a private key. */
import { integer, octets, sequence, TAG } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { decodePem, encodePem } from "../der/pem.ts";

/** What signs a certificate. */
export interface Signer {
  /** The AlgorithmIdentifier of the signature, in DER. */
  readonly algorithm: Uint8Array;
  /** Errors: the key is too short to be used. */
  sign(message: Uint8Array): Uint8Array;
}

/** A private key and what a certificate needs of it. */
export interface PrivateKey {
  /** The PEM form that sprig writes, whatever form the key was read from. */
  pem(): string;
  /** SubjectPublicKeyInfo in DER. Errors: certificates have no form for keys of this type. */
  publicKey(): Uint8Array;
  /** `undefined` for keys that cannot sign certificates. */
  readonly signer: Signer | undefined;
}

/** Go's x509 cannot sign with DSA, and TLS libraries no longer accept it. */
export const NO_DSA = 'DSA keys are not supported: use "ecdsa", "ed25519" or "rsa"';

/** An RSA or ECDSA key in the form of PKCS #8 (RFC 5208): its own form, after the algorithm of its public key. */
export function pkcs8Pem(key: PrivateKey): string {
  const own = decodePem(key.pem());
  if (own === undefined || own.type === "PRIVATE KEY") return key.pem();
  const algorithm = new DerReader(key.publicKey()).sequence().take(TAG.sequence).whole;
  return encodePem("PRIVATE KEY", sequence(integer(0), algorithm, octets(own.bytes)));
}
