import type { grpcCall } from "../grpc/mod.ts";
import type { Logger } from "../../platform/log.ts";
import type { CaMetrics, FileMetrics } from "../metrics/control_plane_metrics.ts";
import type { CurveName } from "../../golang/x509/mod.ts";

/** Paths of a certificate that another program maintains. */
export interface MountedPaths {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
}

export type KeyChoice =
  | { readonly type: "ecdsa"; readonly curve: CurveName }
  | { readonly type: "rsa"; readonly bits: number };

export interface AuthorityOptions {
  /** `host:port`. */
  readonly address: string;
  /** Whether to use plain text, as on port 15010 of istiod. */
  readonly isPlain: boolean;
  /** The name that the CA's certificate must contain. */
  readonly serverName: string;
  /** File of root certificates that the CA's certificate must chain to; `undefined` means the system's roots. */
  readonly rootsFile: string | undefined;
  /** The folder of a client certificate (`PROV_CERT`: `key.pem`, `cert-chain.pem`); `""` if unset. */
  readonly clientFolder: string;
  /** Path of the token file, which is read for each request; `""` if no token is used. */
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The Kubernetes signer to request; `""` if unset. */
  readonly certSigner: string;
  /** The requested validity; 0 lets the CA choose. */
  readonly ttlSeconds: number;
}

/**
 * Renewal time: `ratio` is the fraction of the validity that remains at renewal, and `jitter` its random variation.
 * Both are from 0 to 1.
 */
export interface RenewalOptions {
  readonly ratio: number;
  readonly jitter: number;
}

export interface IdentitySettings {
  /** The requested identity: `spiffe://cluster.local/ns/shop/sa/web`. */
  readonly spiffeId: string;
  /** Locations where another program may maintain the certificate. The first complete location is used. */
  readonly mounted: readonly MountedPaths[];
  readonly isMountedOnly: boolean;
  readonly authority: AuthorityOptions;
  readonly key: KeyChoice;
  readonly isPkcs8: boolean;
  readonly renewal: RenewalOptions;
  /** Folder to write certificate, key and roots to; `""` if unset. */
  readonly outputFolder: string;
}

export interface IdentityOptions extends IdentitySettings {
  readonly log: Logger;
  readonly metrics?: CaMetrics & Partial<FileMetrics> | undefined;
  /** Replaces the call to the CA in tests. */
  readonly call?: typeof grpcCall;
}
