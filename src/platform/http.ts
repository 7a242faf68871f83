import { MeshError } from "../base/errors.ts";

export interface DownloadLimits {
  /** Maximum milliseconds without a byte. */
  readonly silence: number;
  /** Maximum milliseconds in total, against a server that sends single bytes slowly. */
  readonly whole: number;
  /** Maximum bytes after decompression. */
  readonly bytes: number;
}

export interface Download {
  /** Header fields for the server of the URL. Dropped when a redirect leads to another server. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Form fields with credentials. Makes the request a POST and refuses redirects. */
  readonly form?: Readonly<Record<string, string>>;
  readonly insecure?: boolean;
  readonly signal?: AbortSignal;
  /** Overrides the default limits: 30 s of silence, 10 minutes in total, 64 MiB. */
  readonly limits?: Partial<DownloadLimits>;
  /** Returns whether to follow a redirect to this URL. Redirects from https to http are never followed. */
  readonly follows?: (to: URL) => boolean;
}

/** The error for a download with a status other than 2xx. */
export class AnswerError extends MeshError {
  constructor(message: string, readonly status: number, readonly headers: Headers) {
    super(message);
  }
}

/** Options of a client for one server. Certificates and keys are PEM. */
export interface ClientOptions {
  /** The URL of the server, such as `https://10.0.0.1:443`. */
  readonly server: string;
  /** Trusted root certificates; `undefined` means the roots of the system. */
  readonly authorities?: string | undefined;
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** The name to expect in the server's certificate; by default the host of the URL. */
  readonly serverName?: string | undefined;
  /** Skips the verification of the server's certificate. */
  readonly insecure?: boolean | undefined;
  /** URL of a proxy (http, https, socks5), which overrides the proxies from the environment. */
  readonly proxy?: string | undefined;
}

/** A client for one server. It reuses connections. */
export interface HttpClient {
  /** Sends an HTTP/1.1 request, with the types and errors of the web's `fetch`. `init.signal` aborts it. */
  request(path: string, init: RequestInit): Promise<Response>;
  /**
   * Opens a WebSocket. Rejects with a TypeError if the server refuses. The TypeError lacks the server's response;
   * call `request` with the same path to get that response.
   */
  webSocket(path: string, request: WebSocketRequest): Promise<WebSocketConnection>;
  /** Closes the connections. Requests in flight fail. */
  close(): void;
}

export interface WebSocketRequest {
  /** Subprotocols in the order of preference. */
  readonly protocols: readonly string[];
  readonly headers: Headers;
  /** Aborts the attempt to connect, and later the open connection. */
  readonly signal: AbortSignal;
}

export interface WebSocketConnection {
  /** The subprotocol that the server selected. */
  readonly protocol: string;
  /**
   * The received messages until the server closes the WebSocket. The stream fails when the connection breaks, and with
   * the signal's reason when the signal fires.
   */
  readonly messages: ReadableStream<Uint8Array>;
  send(bytes: Uint8Array<ArrayBuffer>): void;
  /** May be called more than once. */
  close(): void;
}

/** The versions of HTTP, by their names in ALPN. */
export type HttpVersion = "http/1.1" | "h2";

/** HTTP over one connection. */
export interface HttpConnection {
  /**
   * Sends a request for `/path`, with the types and errors of the web's `fetch`. The response body streams while the request
   * body is sent. Trailers are dropped. `authority` is `host:port` of the server; with HTTP/1.1, a header `host` overrides it.
   * Rejects with an error whose `isUnsent` is true if the connection cannot accept the request: it is closed, drained by the
   * server (GOAWAY), or busy (HTTP/1.1).
   */
  request(authority: string, path: string, init: RequestInit): Promise<Response>;
  /** Resolves when the connection is closed, with the error that broke it, if any. Never rejects. */
  readonly ended: Promise<unknown>;
  /** Returns the cause of a request's error: the error that broke the connection, otherwise the error itself. */
  why(error: unknown): Promise<unknown>;
  /** Closes the connection. Requests in flight fail. */
  close(): void;
}

/** An HTTP request on its own connection. */
export interface Exchange {
  readonly method: "GET" | "POST";
  /** URL whose host is an IP address or `localhost`. */
  readonly url: string;
  /** Header fields, which may include `host`. */
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The local IP address to connect from. */
  readonly source?: string;
  /** `negotiated` means HTTP/2 if the server selects it in the TLS handshake (ALPN), otherwise HTTP/1.1. */
  readonly protocol: "http/1.1" | "h2" | "negotiated";
  readonly maxBodyBytes: number;
  readonly signal: AbortSignal;
}

export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body, truncated at the limit or when the signal fires. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Address and limits of a server; port 0 selects a free port. */
export interface ServeOptions {
  readonly hostname: string;
  readonly port: number;
  /**
   * Called with the reason when the server cannot accept connections, for example with too many open files. The server
   * then retries.
   */
  readonly failed?: (reason: string) => void;
  /** Limits that are enforced every few seconds, only on Linux and in a process with all permissions. */
  readonly limits?: SilenceLimits;
  /** Limits that are enforced immediately, on all systems. With these limits, each connection is spliced. */
  readonly connections?: ConnectionLimits;
}

/** Limits of silent connections. */
export interface SilenceLimits {
  /** Maximum number of connections. Above this number, the connections with the longest silence are closed. */
  readonly most: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly silence: number;
}

/**
 * Returns the response to a request. `remote` is the client's IP address. Only servers with {@link ConnectionLimits}
 * pass an exchange.
 */
export type HttpHandler = (
  request: Request,
  remote: string,
  exchange?: ServedExchange,
) => Response | Promise<Response>;

/** The server's view of one request and its response. */
export interface ServedExchange {
  /**
   * Records that the request body is complete. Until the response is sent, the server does not close this connection in
   * favour of new ones.
   */
  arrived(): void;
  /** Resolves when the response is sent or can no longer be sent. Never rejects. */
  readonly sent: Promise<void>;
  close(): void;
}

export interface HttpServer {
  readonly port: number;
  /** Stops listening; resolves when the requests in flight are answered. */
  close(): Promise<void>;
}

/** A certificate chain and its private key, both PEM. */
export interface KeyPair {
  readonly certificate: string;
  readonly key: string;
}

/** Limits of connections, so that slow and idle clients cannot block other clients. */
export interface ConnectionLimits {
  /**
   * Maximum number of connections. Above this number, the server closes the idlest connection of the address with the
   * most connections. A connection whose client waits for a response is not closed.
   */
  readonly most: number;
  /** Maximum number of connections per IPv4 address or IPv6 /64 network. */
  readonly mostOfAddress: number;
  /** Maximum number of new connections from one address per second. Further ones are closed immediately. */
  readonly newOfAddress: number;
  /** Maximum bytes, including TLS overhead, from the end of one request to the end of the next request's head. */
  readonly headBytes: number;
  /** Milliseconds within which a connection must send its first request. */
  readonly firstRequest: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly silence: number;
}

/** Options of an HTTPS server, which serves only HTTP/1.1. */
export interface TlsServeOptions extends Pick<ServeOptions, "hostname" | "port"> {
  readonly keyPair: KeyPair;
  readonly limits: ConnectionLimits;
}

export interface TlsServer {
  readonly port: number;
  /**
   * Uses another certificate for new connections. Open connections continue. Rejects with a `MeshError` if TLS cannot use
   * the key pair, and then keeps the current certificate.
   */
  replaceCertificate(keyPair: KeyPair): Promise<void>;
  /** Starts to drain the server: each response closes its connection. */
  drain(): void;
  /** Stops listening and waits for requests in flight until the timeout. Returns whether all requests were answered. */
  close(milliseconds: number): Promise<boolean>;
}
