/** What certificates need of a private key. */

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
