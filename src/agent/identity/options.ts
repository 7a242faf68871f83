/** What the identity of the workload is made from. */
import type { GrpcChannel, GrpcEndpoint } from "../../core/grpc/mod.ts";
import type { Logger } from "../../core/log.ts";
import type { CurveName } from "../../core/x509/mod.ts";

/** Files of another program that keeps the certificate: paths. */
export interface MountedPaths {
  readonly certificate: string;
  readonly key: string;
  readonly roots: string;
}

/** The key that is made for each certificate. */
export type KeyChoice =
  | { readonly type: "ecdsa"; readonly curve: CurveName }
  | { readonly type: "rsa"; readonly bits: number };

/** Who signs, and how it is asked. */
export interface AuthorityOptions {
  /** `host:port`. */
  readonly address: string;
  /** Without TLS, as port 15010 of istiod. */
  readonly isPlain: boolean;
  /** Whom its certificate must name. */
  readonly serverName: string;
  /** The file of the root certificates that may have signed its certificate; `undefined`: those of the system. */
  readonly rootsFile: string | undefined;
  /** The folder of a certificate to come with (`PROV_CERT`), `key.pem` and `cert-chain.pem`; `""` for none. */
  readonly clientFolder: string;
  /** The file of the token, read anew at each call; `""` for none. */
  readonly tokenFile: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The signer that is asked for, `""` for none. */
  readonly certSigner: string;
  /** How long the certificate shall be valid; 0 leaves it to the authority. */
  readonly ttlSeconds: number;
}

/** When a certificate is renewed: the part of its time that is left then, more or less by chance. Both from 0 to 1. */
export interface RenewalOptions {
  readonly ratio: number;
  readonly jitter: number;
}

/** All but what the process gives. */
export interface IdentitySettings {
  /** The name that is asked for: `spiffe://cluster.local/ns/shop/sa/web`. */
  readonly spiffeId: string;
  /** Places where another program may keep the certificate: the first that has one is used. */
  readonly mounted: readonly MountedPaths[];
  /** No authority is asked, even if no certificate is there yet. */
  readonly isMountedOnly: boolean;
  readonly authority: AuthorityOptions;
  readonly key: KeyChoice;
  /** Keys are written in the form of PKCS #8. */
  readonly isPkcs8: boolean;
  readonly renewal: RenewalOptions;
  /** Where certificate, key and roots are written to; `""` for nowhere. */
  readonly outputFolder: string;
}

export interface IdentityOptions extends IdentitySettings {
  readonly log: Logger;
  /** Opens the channel to the authority; `openChannel` of the world's network unless told. */
  readonly open?: (endpoint: GrpcEndpoint) => GrpcChannel;
}
