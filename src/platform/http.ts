import { type ErrorDetails, MeshError } from "../base/errors.ts";

/** Limits of a download. */
export interface DownloadLimits {
  /** Milliseconds without a byte. */
  readonly silence: number;
  /** Milliseconds in all, against a server that sends a byte now and then. */
  readonly whole: number;
  /** Bytes after decompression. */
  readonly bytes: number;
}

/** How a URL is downloaded. */
export interface Download {
  /** For the server of the URL: one that it redirects to does not get them. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Fields of a form with credentials, which makes the request a POST: then no redirect is followed. */
  readonly form?: Readonly<Record<string, string>>;
  /** Certificates are not verified. */
  readonly insecure?: boolean;
  readonly signal?: AbortSignal;
  /** In place of the default ones: 30 s, 10 minutes, 64 MiB. */
  readonly limits?: Partial<DownloadLimits>;
  /** Whether a redirect to this URL is followed. Redirects from https to http never are. */
  readonly follows?: (to: URL) => boolean;
}

/** A server answered a download with a status other than 2xx. */
export class AnswerError extends MeshError {
  readonly status: number;
  readonly headers: Headers;

  constructor(message: string, { status, headers, ...details }: AnswerDetails) {
    super(message, details);
    this.status = status;
    this.headers = headers;
  }
}

interface AnswerDetails extends ErrorDetails {
  readonly status: number;
  readonly headers: Headers;
}

/** A client of one server. All texts are PEM. */
export interface ClientOptions {
  /** The URL of the server, such as `https://10.0.0.1:443`. */
  readonly server: string;
  /** The only trusted roots; the roots of the system if `undefined`. */
  readonly authorities?: string | undefined;
  /** The client's key pair. */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** The name that the server's certificate must have, if not the host of the URL. */
  readonly serverName?: string | undefined;
  /** The server's certificate is not verified at all. */
  readonly insecure?: boolean | undefined;
  /** URL of a proxy (http, https, socks5); it replaces the proxies of the environment. */
  readonly proxy?: string | undefined;
}

/** Requests to one server over kept connections. */
export interface HttpClient {
  /** One HTTP/1.1 request, with the types and the errors of the web's `fetch`; `init.signal` ends it. */
  request(path: string, init: RequestInit): Promise<Response>;
  /**
   * Opens a WebSocket. Rejects with a TypeError if the server refuses it. The TypeError lacks the server's answer:
   * `request` for the same path returns it.
   */
  webSocket(path: string, request: WebSocketRequest): Promise<WebSocketConnection>;
  /** Closes the connections. Requests in flight fail. */
  close(): void;
}

/** A WebSocket to open. */
export interface WebSocketRequest {
  /** Subprotocols in the order of preference. */
  readonly protocols: readonly string[];
  readonly headers: Headers;
  /** Ends the attempt, and later the connection. */
  readonly signal: AbortSignal;
}

/** An open WebSocket. */
export interface WebSocketConnection {
  /** The subprotocol that the server selected. */
  readonly protocol: string;
  /**
   * Its messages until the server closes it. The stream fails when the connection breaks, and with the signal's reason
   * when the signal fires.
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
   * A request for `/path`, with the types and the errors of the web's `fetch`. The response body streams while the request
   * body is sent. Trailers are lost. `authority` is `host:port` of the server, which a header `host` overrides (HTTP/1.1).
   * Rejects with an error whose `isUnsent` is true if the connection takes no request: it is closed, drained by the
   * server (GOAWAY), or busy (HTTP/1.1).
   */
  request(authority: string, path: string, init: RequestInit): Promise<Response>;
  /** Resolves when the connection is closed, with the error that broke it, if any. Never rejects. */
  readonly ended: Promise<unknown>;
  /** The cause of a request's error: the error that broke the connection, or else the error itself. */
  why(error: unknown): Promise<unknown>;
  /** Closes the connection. Requests in flight fail. */
  close(): void;
}

/** An HTTP request on its own connection. */
export interface Exchange {
  readonly method: "GET" | "POST";
  /** The host is an IP address or `localhost`. */
  readonly url: string;
  /** May contain `host`. */
  readonly headers: Headers;
  readonly body?: Uint8Array<ArrayBuffer>;
  /** The local IP address to connect from. */
  readonly source?: string;
  /** `negotiated`: HTTP/2 if the server selects it in the TLS handshake (ALPN), else HTTP/1.1. */
  readonly protocol: "http/1.1" | "h2" | "negotiated";
  /** At most this much of the response body is read. */
  readonly maxBodyBytes: number;
  readonly signal: AbortSignal;
}

/** The response. */
export interface ExchangeAnswer {
  readonly status: number;
  readonly headers: Headers;
  /** The body up to its end, its limit or the signal. */
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Where to serve; port 0 takes a free one. */
export interface ServeOptions {
  readonly hostname: string;
  readonly port: number;
  /** Called with the reason when no connection can be accepted, as with too many open files. The server retries a moment later. */
  readonly failed?: (reason: string) => void;
  /** Enforced every few seconds, on Linux and by a process with all permissions. */
  readonly limits?: SilenceLimits;
  /** Enforced at once, on all systems; each connection is spliced. */
  readonly connections?: ConnectionLimits;
}

/** Limits of connections that carry no bytes. */
export interface SilenceLimits {
  /** Maximum number of connections; beyond it the longest-silent ones are closed. */
  readonly most: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly silence: number;
}

/** Answers a request; `remote` is the IP address of the client. Servers with {@link ConnectionLimits} pass an exchange. */
export type HttpHandler = (
  request: Request,
  remote: string,
  exchange?: ServedExchange,
) => Response | Promise<Response>;

/** One request and its answer, as the server sees them. */
export interface ServedExchange {
  /**
   * The request body is complete. Until the answer is sent, the connection is not closed to free a place for others.
   */
  arrived(): void;
  /** Resolves when the answer is sent, or cannot be sent any more. Never rejects. */
  readonly sent: Promise<void>;
  /** Closes the connection. */
  close(): void;
}

/** A running server. */
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

/** Limits of connections: slow and idle clients must not keep others out. */
export interface ConnectionLimits {
  /**
   * Maximum number of connections. One more closes the one that is idle for longest, of the address with most connections. A
   * connection whose client waits for an answer is not closed.
   */
  readonly most: number;
  /** Maximum for one address (IPv6: for one network of 64 bits). */
  readonly mostOfAddress: number;
  /** Maximum number of new connections from one address in a second; more are closed at once. */
  readonly newOfAddress: number;
  /** Bytes that a client may send from the end of a request to the head of the next one, including the bytes of TLS. */
  readonly headBytes: number;
  /** Milliseconds within which a connection must send its first request. */
  readonly firstRequest: number;
  /** Milliseconds without a byte in either direction after which a connection is closed. */
  readonly silence: number;
}

/** Where and how HTTPS is served: HTTP/1.1 alone. */
export interface TlsServeOptions extends Pick<ServeOptions, "hostname" | "port"> {
  readonly keyPair: KeyPair;
  readonly limits: ConnectionLimits;
}

/** A running HTTPS server. */
export interface TlsServer {
  readonly port: number;
  /**
   * Uses another certificate for new connections; open connections continue. Rejects with a `MeshError` if TLS cannot use
   * the key pair, and keeps the one in use.
   */
  replaceCertificate(keyPair: KeyPair): Promise<void>;
  /** Starts to drain: each response closes its connection. */
  drain(): void;
  /** Stops listening and waits for requests in flight, at most this many milliseconds. Returns whether all were answered. */
  close(milliseconds: number): Promise<boolean>;
}
