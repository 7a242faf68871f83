import type { Clock } from "../../platform/mod.ts";

/** What a request shows to the server, and how it trusts the server. All texts are PEM. */
export interface Credential {
  readonly headers: Headers;
  /** Certificate authorities that may have signed the server's certificate. */
  readonly authorities: string | undefined;
  /** The client's certificate and key. */
  readonly identity: { readonly certificate: string; readonly key: string } | undefined;
}

/** How to reach a server, and as whom. */
export interface Connection {
  /** URL without a trailing slash. */
  readonly server: string;
  readonly insecure: boolean;
  readonly serverName: string | undefined;
  readonly proxy: string | undefined;
  readonly credentials: Credentials;
  /** Getting a credential runs a program. */
  readonly runsPlugin: boolean;
  /** The namespace of the context, for commands without --namespace. */
  readonly namespace: string | undefined;
  /** Where the settings come from, for messages: `context "kind" of "/home/ada/.kube/config"`. */
  readonly origin: string;
}

/** Which connection is wanted; every part may be left out. */
export interface ConnectOptions {
  /** Path of a kubeconfig file. */
  readonly kubeconfig?: string | undefined;
  readonly context?: string | undefined;
  readonly cluster?: string | undefined;
  readonly user?: string | undefined;
  /** URL of the API server, in place of the cluster's. */
  readonly server?: string | undefined;
  /** The name in the server's certificate. */
  readonly tlsServerName?: string | undefined;
  readonly insecureSkipTlsVerify?: boolean;
  /** Path of a file with certificate authorities. */
  readonly certificateAuthority?: string | undefined;
  /** Bearer token, in place of what the user signs in with. */
  readonly token?: string | undefined;
  /** Impersonates this user. */
  readonly as?: string | undefined;
  readonly asGroup?: readonly string[];
  /** Milliseconds for a request; 0 is no limit. */
  readonly requestTimeout?: number | undefined;
}

/** A credential, and for how many milliseconds it is used. */
export interface LastingCredential {
  readonly credential: Credential;
  readonly lasts: number;
}

/** client-go reads token files as often: a pod's token is replaced long before it expires. */
export const READ_AGAIN = 60_000;

/**
 * The credential of a connection. Concurrent requests share one load; a failed load is tried again by the next
 * request.
 */
export class Credentials {
  #loading: Promise<LastingCredential> | undefined;
  #end = Infinity;

  /** With `isRenewable` a load may give another credential after the server refused the last one. */
  constructor(
    readonly clock: Pick<Clock, "monotonic">,
    readonly load: () => Promise<LastingCredential>,
    readonly isRenewable: boolean,
  ) {}

  /** The credential to use now. Errors: as `load`. */
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

  /** The server refused the credential. Returns whether another try makes sense. */
  refused(): boolean {
    this.#forget();
    return this.isRenewable;
  }

  #forget(): void {
    this.#loading = undefined;
    this.#end = Infinity;
  }
}
