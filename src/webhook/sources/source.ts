/** Where the serving certificate comes from: files that are watched, or one that this program makes itself. */

/** A certificate, with those that it was signed by, and its private key: both PEM. */
export interface ServingCertificate {
  readonly certificate: string;
  readonly key: string;
}

/** A certificate that may be replaced while it is in use. */
export interface CertificateSource {
  /** Resolves when there is a certificate; rejects with a MeshError if there will be none. */
  readonly ready: Promise<void>;
  /** The certificate in force: the last good one. Throws before `ready`. */
  current(): ServingCertificate;
  /** Why a newer certificate is not in force; `undefined` if the current one is the newest. */
  problem(): string | undefined;
  /** Calls back after each change of `current` or `problem`, until the returned function is called. */
  onChange(handler: () => void): () => void;
  /** Watches no longer. */
  close(): void;
}
