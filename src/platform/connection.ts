import { type ErrorDetails, MeshError } from "../base/errors.ts";

/** An open connection. Reads and writes bytes without streams, which would hold copies. */
export interface ByteConnection {
  /** Reads bytes into the buffer and returns their number, or `null` at the end. Rejects if the connection breaks. */
  read(buffer: Uint8Array): Promise<number | null>;
  /** Writes some of the bytes and returns their number; waits while the peer does not read. Rejects when the connection breaks. */
  write(bytes: Uint8Array): Promise<number>;
  /** Closes both directions; may be called more than once. */
  close(): void;
}

/** TLS settings of a client. Certificates and keys are PEM. */
export interface DialTls {
  /** The DNS name or IP address that the server's certificate must have; a DNS name is sent to the server (SNI). */
  readonly serverName: string;
  /** Trusted root certificates; `undefined` means the roots of the system. */
  readonly authorities: string | undefined;
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** Protocols offered to the server (ALPN), such as `h2`. */
  readonly protocols: readonly string[];
  /** Skips the verification of the server's certificate. */
  readonly insecure?: boolean | undefined;
}

/** The address of a server and the settings of a connection to it. */
export interface DialOptions {
  readonly host: string;
  readonly port: number;
  /** `undefined` means plain text. */
  readonly tls: DialTls | undefined;
  /** The local IP address to connect from (Linux). */
  readonly source?: string | undefined;
  readonly signal: AbortSignal;
}

export interface Dialed extends ByteConnection {
  /** The protocol agreed on in the TLS handshake (ALPN). */
  readonly protocol?: string | undefined;
}

/** The step of an attempt to connect that failed. */
export type DialStage = "name" | "connection" | "tls";

/** A failed attempt to connect. The message states the cause; for a wrong server name it lists the names in the certificate. */
export class DialError extends MeshError {
  constructor(readonly stage: DialStage, message: string, details: ErrorDetails = {}) {
    super(message, details);
  }
}

/** A Unix socket to listen on. */
export interface UnixSocketOptions {
  /**
   * At most 107 bytes. A stale socket is replaced; any other file is an error. Missing parent folders are created with
   * mode 0750.
   */
  readonly path: string;
  readonly mode: number;
  /**
   * Called with the reason when the server cannot accept a connection, for example with too many open files. The server
   * then retries.
   */
  readonly failed?: (reason: string) => void;
}

export interface UnixServer {
  /**
   * Stops listening, closes all connections (even with requests in flight), and removes the socket. May be called more
   * than once.
   */
  close(): Promise<void>;
}

export interface DatagramAddress {
  readonly hostname: string;
  readonly port: number;
}

/** The address to bind a UDP socket to; port 0 selects a free port. */
export interface DatagramOptions extends DatagramAddress {
  /** Records ICMP "port unreachable" errors for `isRefused` (Linux). */
  readonly keepsRefusals?: boolean;
}

export interface DatagramSocket {
  readonly port: number;
  /**
   * Reads the next datagram into the buffer and returns the bytes and the sender. Truncates a longer datagram. Rejects when
   * closed.
   */
  receive(buffer: Uint8Array): Promise<readonly [Uint8Array, DatagramAddress]>;
  /** Resolves when the kernel has the datagram. Rejects if the datagram is too long or the host has no route. */
  send(bytes: Uint8Array, to: DatagramAddress): Promise<void>;
  /** Answers datagrams until the socket is closed. Continues when an answer fails or cannot be sent. */
  serve(answer: DatagramHandler): Promise<void>;
  /** Whether an ICMP error arrived since the last call; only with `keepsRefusals`. */
  isRefused(): boolean;
  /** May be called more than once. */
  close(): void;
}

/**
 * Returns the answer to a datagram, or `undefined` to send no answer. `bytes` is valid until the handler returns;
 * `port` is the sender's port.
 */
export type DatagramHandler = (bytes: Uint8Array, port: number) => Uint8Array | undefined | Promise<Uint8Array>;

export interface TcpListener {
  readonly port: number;
  /** Stops listening and closes all connections. */
  close(): Promise<void>;
}

/** Called with each connection and the address of its peer. */
export type TcpHandler = (connection: ByteConnection, remote: DatagramAddress) => void;
