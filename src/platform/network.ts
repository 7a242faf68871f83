import type {
  ByteConnection,
  DatagramAddress,
  DatagramOptions,
  DatagramSocket,
  Dialed,
  DialOptions,
  TcpHandler,
  TcpListener,
  UnixServer,
  UnixSocketOptions,
} from "./connection.ts";
import type {
  ClientOptions,
  Download,
  Exchange,
  ExchangeAnswer,
  HttpClient,
  HttpConnection,
  HttpHandler,
  HttpServer,
  HttpVersion,
  ServeOptions,
  TlsServeOptions,
  TlsServer,
} from "./http.ts";

export interface InterfaceAddress {
  readonly name: string;
  readonly family: "IPv4" | "IPv6";
  readonly address: string;
}

/** The network of the network namespace that this process is in. */
export interface Network {
  /** Returns the addresses of all interfaces in the kernel's order. */
  interfaces(): readonly InterfaceAddress[];
  /** Returns the IP addresses of a host from the system's resolver; empty if the name does not resolve. */
  lookup(host: string): Promise<readonly string[]>;
  /** Whether a program accepts connections on a Unix socket. */
  isServed(path: string): Promise<boolean>;
  /**
   * Fetches a URL in chunks, with limits of size and time. Rejects with an `AnswerError` for a status other than 2xx, and with a
   * `MeshError`, also while chunks are read.
   */
  fetch(url: string, options?: Download): Promise<AsyncIterable<Uint8Array>>;
  /** Sends an HTTP request, with the types and errors of the web's `fetch`. `init.signal` aborts it. */
  request(url: string, init?: RequestInit): Promise<Response>;
  /**
   * Sends one HTTP request on its own connection and closes it after the response, as Kubernetes probes do. Redirects
   * are not followed, and certificates are not verified. Rejects with the errors of the web's `fetch` and of `dial`.
   */
  exchange(request: Exchange): Promise<ExchangeAnswer>;
  /**
   * Returns a client for one server with a key pair and trusted roots. Rejects with a `MeshError` if TLS cannot use
   * them.
   */
  client(options: ClientOptions): Promise<HttpClient>;
  /** Serves HTTP on a TCP address. Rejects with a `MeshError` if the address cannot be bound. */
  serve(options: ServeOptions, handler: HttpHandler): Promise<HttpServer>;
  /**
   * Serves HTTPS (TLS 1.2 and newer, HTTP/1.1) on a TCP address. Rejects with a `MeshError` if the address
   * cannot be bound, or TLS cannot use the key pair.
   */
  serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer>;
  /**
   * Connects to a server: resolves the name, tries the addresses in turn, and does the TLS handshake if `tls` is set. The
   * connection breaks within a minute after the peer vanished (Linux). Rejects with a `DialError`.
   */
  dial(options: DialOptions): Promise<Dialed>;
  /** Returns HTTP over a new connection, and takes ownership of the connection. */
  http(connection: ByteConnection, version: HttpVersion): Promise<HttpConnection>;
  /** Serves HTTP/1.1 and HTTP/2 without TLS on a Unix socket. Rejects with a `MeshError` if the socket cannot be bound. */
  serveUnix(
    options: UnixSocketOptions,
    handler: (request: Request) => Response | Promise<Response>,
  ): Promise<UnixServer>;
  /** Accepts connections on a Unix socket. Rejects with a `MeshError` if the socket cannot be bound. */
  listenUnix(options: UnixSocketOptions, accepted: (connection: ByteConnection) => void): Promise<UnixServer>;
  /** Accepts connections on a TCP port; port 0 selects a free port. Rejects with a `MeshError` if the port cannot be bound. */
  listenTcp(options: DatagramAddress, accepted: TcpHandler): Promise<TcpListener>;
  /** Binds a UDP socket. Rejects with a `MeshError` if the port cannot be bound. */
  bindDatagram(options: DatagramOptions): Promise<DatagramSocket>;
}
