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

/** The versions of HTTP, by their names in ALPN. */
export type HttpVersion = "http/1.1" | "h2";

/** HTTP over one connection. */
export interface HttpConnection {
  /**
   * A request for `/path`, with the types and the errors of the web's `fetch`. The response body streams while the request
   * body is sent. Trailers are lost. `authority` is `host:port` of the server, which a header `host` overrides (HTTP/1.1).
   * Rejects with an error of which `isUnsent` is true when the connection takes no request: it is closed, drained by the
   * server (GOAWAY), or busy (HTTP/1.1).
   */
  request(authority: string, path: string, init: RequestInit): Promise<Response>;
  /** Resolves when the connection is closed, with the error that broke it, if any. Never rejects. */
  readonly ended: Promise<unknown>;
  /** The cause of a request's error: the error that broke the connection, else the error itself. */
  why(error: unknown): Promise<unknown>;
  /** Closes the connection. Requests in flight fail. */
  close(): void;
}

/** An HTTP request that is not sent over a kept connection. */
export interface Exchange {
  readonly method: "GET" | "POST";
  /** Of an IP address or `localhost`. */
  readonly url: string;
  /** `host` may be among them. */
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The IP address of the own end. */
  readonly source?: string;
  /** `negotiated`: HTTP/2 if the server chooses it in the TLS handshake, else HTTP/1.1. */
  readonly protocol: "http/1.1" | "h2" | "negotiated";
  /** How much of the answer's body is read; the rest is not waited for. */
  readonly maxBodyBytes: number;
  readonly signal: AbortSignal;
}

/** What came back. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** What came of the body before its end, its limit or the signal. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Where to serve: a port of 0 takes a free one. */
export interface ServeOptions {
  readonly hostname: string;
  readonly port: number;
}

/** Answers one request; `remote` is the address, without port, of who asks. */
export type HttpHandler = (request: Request, remote: string) => Response | Promise<Response>;

/** A server that runs. */
export interface HttpServer {
  readonly port: number;
  /** Takes no more connections; resolves when the requests in flight are answered. */
  close(): Promise<void>;
}

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
