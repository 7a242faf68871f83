/** Private keys, as far as certificates need them. */
import { integer, octets, sequence, TAG } from "../der/der.ts";
import { DerReader } from "../der/der_reader.ts";
import { decodePem, encodePem } from "../der/pem.ts";

/** Signs certificates. */
export interface Signer {
  /** The AlgorithmIdentifier of the signature, in DER. */
  readonly algorithm: Uint8Array;
  /** Errors: the key is too short to be used. */
  sign(message: Uint8Array): Uint8Array;
}

/** A private key. */
export interface PrivateKey {
  /** PEM in the form that sprig writes, independent of the form that was read. */
  pem(): string;
  /** SubjectPublicKeyInfo in DER. Errors: certificates do not support this type of key. */
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
