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

/** An address of a network interface. */
export interface InterfaceAddress {
  readonly name: string;
  readonly family: "IPv4" | "IPv6";
  readonly address: string;
}

/** The network of the machine, or of the network namespace that was entered. */
export interface Network {
  /** Addresses of all interfaces of this network namespace, in the kernel's order. */
  interfaces(): readonly InterfaceAddress[];
  /** The IP addresses of a host, as the system's resolver finds them; none if it finds none. */
  lookup(host: string): Promise<readonly string[]>;
  /** Whether a program accepts connections on the Unix socket at a path; a socket file that was left behind is none. */
  isServed(path: string): Promise<boolean>;
  /** Fetches an https URL in pieces. */
  fetch(url: string): Promise<AsyncIterable<Uint8Array>>;
  /** One HTTP request, with the types and the errors of the web's `fetch`; `init.signal` ends it. */
  request(url: string, init?: RequestInit): Promise<Response>;
  /**
   * One HTTP request on a connection of its own, which is closed with the answer: how Kubernetes probes. Redirects are
   * not followed, certificates of https are not verified. Errors are those of the web's `fetch` and of `dial`.
   */
  exchange(request: Exchange): Promise<ExchangeAnswer>;
  /** A client of one server, with an identity and a trust of its own. Rejects with a `MeshError` if they cannot be used. */
  client(options: ClientOptions): Promise<HttpClient>;
  /** Serves HTTP on a TCP address. Rejects with a `MeshError` that names the address if it cannot be had. */
  serve(options: ServeOptions, handler: HttpHandler): Promise<HttpServer>;
  /**
   * Serves HTTPS, TLS 1.2 and newer, HTTP/1.1 and HTTP/2, on a TCP address. Rejects with a `MeshError` that names the
   * address if it cannot be had, and for a certificate or a key that cannot be used.
   */
  serveTls(options: TlsServeOptions, handler: HttpHandler): Promise<TlsServer>;
  /**
   * Connects to a server: looks the name up, tries its addresses in turn, and does the TLS handshake if asked to. The
   * connection breaks within a minute after the other end vanished (Linux). Rejects with a `DialError`.
   */
  dial(options: DialOptions): Promise<Dialed>;
  /** HTTP over a connection that carried nothing yet. The connection belongs to it from then on. */
  http(connection: ByteConnection, version: HttpVersion): Promise<HttpConnection>;
  /** Serves HTTP/1.1 and HTTP/2, both in clear, on a Unix socket. Rejects with a `MeshError` if it cannot be had. */
  serveUnix(
    options: UnixSocketOptions,
    handler: (request: Request) => Response | Promise<Response>,
  ): Promise<UnixServer>;
  /** Takes connections on a Unix socket. Rejects with a `MeshError` if it cannot be had. */
  listenUnix(options: UnixSocketOptions, accepted: (connection: ByteConnection) => void): Promise<UnixServer>;
  /** Takes connections on a TCP port; a port of 0 takes a free one. Rejects with a `MeshError` if it cannot be had. */
  listenTcp(options: DatagramAddress, accepted: TcpHandler): Promise<TcpListener>;
  /** Binds a UDP socket. Rejects with a `MeshError` if the port cannot be had. */
  bindDatagram(options: DatagramOptions): Promise<DatagramSocket>;
}
