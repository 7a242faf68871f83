import type { Clock } from "../../platform/mod.ts";

/** How a request authenticates, and which servers it trusts. All texts are PEM. */
export interface Credential {
  readonly headers: Headers;
  readonly authorities: string | undefined;
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
  readonly runsPlugin: boolean;
  readonly namespace: string | undefined;
  /** Where the settings come from, for messages: `context "kind" of "/home/ada/.kube/config"`. */
  readonly origin: string;
}

/** kubectl's connection flags. */
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
  /** Milliseconds for a request; 0 is no limit. */
  readonly requestTimeout?: number | undefined;
}

/** A credential, and how many milliseconds it may be used. */
export interface LastingCredential {
  readonly credential: Credential;
  readonly lasts: number;
}

/** The interval of client-go: the kubelet replaces a pod's token long before it expires. */
export const READ_AGAIN = 60_000;

/** The credential of a connection. Concurrent requests share one load; the next request retries a failed load. */
export class Credentials {
  #loading: Promise<LastingCredential> | undefined;
  #end = Infinity;

  /** `isRenewable`: another load may give a different credential after the server refused this one. */
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

  /** Drops a credential that the server refused. Returns whether to retry. */
  refused(): boolean {
    this.#forget();
    return this.isRenewable;
  }

  #forget(): void {
    this.#loading = undefined;
    this.#end = Infinity;
  }
}
