import { type ErrorDetails, MeshError } from "../errors.ts";

/** A connection that is open: its bytes as they are read and written, without streams, which would hold copies of them. */
export interface ByteConnection {
  /** Puts some of the bytes that have come into the buffer: how many, `null` at the end. Rejects when it breaks. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Writes some of the bytes, waiting while the other end does not take them: how many. Rejects when it breaks. */
  write(bytes: Uint8Array): Promise<number>;
  /** Ends both directions; may be called more than once. */
  close(): void;
}

/** TLS to a server. All texts are PEM. */
export interface DialTls {
  /** The DNS name or IP address that the server's certificate must have; a DNS name is sent to the server (SNI). */
  readonly serverName: string;
  /** Trusted roots, besides those of the runtime; those of the system if `undefined`. */
  readonly authorities: string | undefined;
  /** The client's certificate chain and its key. */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** Protocols offered to the server (ALPN), such as `h2`. */
  readonly protocols: readonly string[];
  /** The server's certificate is not verified at all. */
  readonly insecure?: boolean | undefined;
}

/** A server, and how to connect to it. */
export interface DialOptions {
  /** A host name or an IP address. */
  readonly host: string;
  readonly port: number;
  /** `undefined`: plain text. */
  readonly tls: DialTls | undefined;
  /** The local IP address to connect from (Linux). */
  readonly source?: string | undefined;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** A connection to a server. */
export interface Dialed extends ByteConnection {
  /** The protocol agreed on in the TLS handshake (ALPN). */
  readonly protocol?: string | undefined;
}

/** The step of an attempt to connect that failed. */
export type DialStage = "name" | "connection" | "tls";

/** An attempt to connect that failed. The message says why, and lists the names in the certificate if none matches. */
export class DialError extends MeshError {
  constructor(readonly stage: DialStage, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** A Unix socket to listen on. */
export interface UnixSocketOptions {
  /**
   * At most 107 bytes. A socket that nobody serves any more is replaced; another file there is an error. The folders
   * above it are made, for this user and its group (0750).
   */
  readonly path: string;
  /** Permission bits of the socket: who may connect. */
  readonly mode: number;
}

/** A Unix socket that is listened on. */
export interface UnixServer {
  /** Takes no more connections, ends those that there are, also with requests under way, and removes the socket. May be called more than once. */
  close(): Promise<void>;
}

/** An end of UDP: an IP address and a port. */
export interface DatagramAddress {
  readonly hostname: string;
  readonly port: number;
}

/** Where to bind a UDP socket: a port of 0 takes a free one. */
export interface DatagramOptions extends DatagramAddress {
  /** Refusals of hosts that are sent to are kept for `isRefused` (Linux). */
  readonly keepsRefusals?: boolean;
}

/** A UDP socket. */
export interface DatagramSocket {
  readonly port: number;
  /** The next datagram, in the buffer, and where it came from; what is longer than the buffer is cut. Rejects when closed. */
  receive(buffer: Uint8Array): Promise<readonly [Uint8Array, DatagramAddress]>;
  /** Resolves when the kernel has taken it. Rejects for one that is too long, or when there is no way to the host. */
  send(bytes: Uint8Array, to: DatagramAddress): Promise<void>;
  /** Whether a host that was sent to has said since the last call that nobody listens there, if that is kept. */
  isRefused(): boolean;
  /** May be called more than once. */
  close(): void;
}

/** A TCP port that is listened on. */
export interface TcpListener {
  readonly port: number;
  /** Takes no more connections, and ends those that there are. */
  close(): Promise<void>;
}

/** Is given each connection to a TCP port, and where it comes from. */
export type TcpHandler = (connection: ByteConnection, remote: DatagramAddress) => void;
