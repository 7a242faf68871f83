import type { Clock } from "../../platform/mod.ts";

/** The headers and the client certificate of requests, and the trusted CA certificates. Certificates and keys are PEM. */
export interface Credential {
  readonly headers: Headers;
  readonly authorities: string | undefined;
  readonly identity: { readonly certificate: string; readonly key: string } | undefined;
}

/** The address of a server, and the credentials to use. */
export interface Connection {
  /** The URL of the server, without a trailing slash. */
  readonly server: string;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly proxy: string | undefined;
  readonly credentials: Credentials;
  readonly runsPlugin: boolean;
  readonly namespace: string | undefined;
  /** Where the settings come from, for messages. For example, `context "kind" of "/home/ada/.kube/config"`. */
  readonly origin: string;
}

export interface ConnectOptions {
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  readonly server?: string | undefined;
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean;
  readonly certificateAuthority?: string | undefined;
  readonly token?: string | undefined;
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[];
  /** Maximum milliseconds for a request; 0 means no limit. */
  readonly requestTimeout?: number | undefined;
}

/** A credential, and the milliseconds for which it may be used. */
export interface LastingCredential {
  readonly credential: Credential;
  readonly lasts: number;
}

/**
 * Milliseconds between reads of a token file, as in client-go. The kubelet replaces a pod's token long before expiry.
 */
export const READ_AGAIN = 60_000;

/**
 * Loads the credential of a connection. Concurrent requests share one load, and the next request retries a failed load.
 */
export class Credentials {
  #loading: Promise<LastingCredential> | undefined;
  #end = Infinity;

  /**
   * `isRenewable`: whether another load may return a different credential after the server refused the current
   * credential.
   */
  constructor(
    readonly clock: Pick<Clock, "monotonic">,
    readonly load: () => Promise<LastingCredential>,
    readonly isRenewable: boolean,
  ) {}

  /** Returns the credential to use now. Rejects if `load` rejects. */
  async current(): Promise<Credential> {
    if (this.clock.monotonic() >= this.#end) this.#forget();
    const loading = this.#loading ??= this.load();
    try {
      const { credential, lasts } = await loading;
      if (this.#loading === loading && this.#end === Infinity) this.#end = this.clock.monotonic() + lasts;
      return credential;
    } catch (error) {
      if (this.#loading === loading) this.#forget();
      throw error;
    }
  }

  /** Drops a credential that the server refused. Returns whether to retry the request. */
  refused(): boolean {
    this.#forget();
    return this.isRenewable;
  }

  #forget(): void {
    this.#loading = undefined;
    this.#end = Infinity;
  }
}
