import type { ServeOptions } from "./world.ts";

/** A certificate with those that it was signed by, and its private key: both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** What connections may cost: slow and silent clients must not keep others out. */
export interface ConnectionLimits {
  /** One more than these closes the one that has been silent for longest. */
  readonly most: number;
  /** A connection has to bring its first request within so many milliseconds. */
  readonly firstRequest: number;
  /** A connection without a byte in either direction is closed after so many milliseconds. */
  readonly silence: number;
}

/** Where and how HTTPS is served. */
export interface TlsServeOptions extends ServeOptions {
  readonly keyPair: KeyPair;
  readonly limits: ConnectionLimits;
}

/** An HTTPS server that runs. */
export interface TlsServer {
  readonly port: number;
  /**
   * New connections get another certificate, those that are open go on. Rejects with a `MeshError` if the certificate
   * and the key cannot be used: then those in use stay.
   */
  replaceCertificate(keyPair: KeyPair): Promise<void>;
  /** From now on clients are told with each answer to ask the next time on a new connection (HTTP/1.1). */
  discourage(): void;
  /** Takes no more connections, and waits so many milliseconds for answers; whether all were given. */
  close(patience: number): Promise<boolean>;
}
