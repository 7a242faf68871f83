/** Whom a client trusts, and as whom it comes. All texts are PEM. */
export interface ClientOptions {
  /** The one server that the client is for, such as `https://10.0.0.1:443`. */
  readonly server: string;
  /** Authorities that may have signed the server's certificate, besides those of the system. */
  readonly authorities?: string | undefined;
  /** The client's certificate and key. */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** The name that the server's certificate must have, if it is not that of the URL. */
  readonly serverName?: string | undefined;
  /** The server's certificate is not verified at all. */
  readonly insecure?: boolean | undefined;
  /** URL of a proxy (http, https, socks5), in place of those of the environment. */
  readonly proxy?: string | undefined;
}

/** Connections to one server, used again while they last. */
export interface HttpClient {
  /** One HTTP/1.1 request, with the types and the errors of the web's `fetch`; `init.signal` ends it. */
  request(path: string, init: RequestInit): Promise<Response>;
  /** Closes the connections; requests under way fail. */
  close(): void;
}
