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

/** How TLS is spoken to a server. All texts are PEM. */
export interface DialTls {
  /** The DNS name or IP address that the server's certificate must have, and the server is told (SNI). */
  readonly serverName: string;
  /** Authorities that may have signed the server's certificate, besides those of the system. */
  readonly authorities: string | undefined;
  /** The client's certificate, with those that it was signed by, and its key. */
  readonly identity?: { readonly certificate: string; readonly key: string } | undefined;
  /** What is offered for the connection (ALPN), such as `h2`. */
  readonly protocols: readonly string[];
}

/** Whom to connect to, and how. */
export interface DialOptions {
  /** A host name or an IP address. */
  readonly host: string;
  readonly port: number;
  /** `undefined`: bytes are sent as they are. */
  readonly tls: DialTls | undefined;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
}

/** How far an attempt to connect came. */
export type DialStage = "name" | "connection" | "tls";

/** There is no connection. The message says why, with names of the server's certificate if these are not the wanted one. */
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

/** HTTP/2 on a connection that was opened for it. */
export interface Http2Client {
  /**
   * A request to `/path`, with the types and the errors of the web's `fetch`; the answer's body comes while that of the
   * request is being sent. Trailers are not seen. `authority` is the host that the server is told, such as `host:port`.
   */
  request(authority: string, path: string, init: RequestInit): Promise<Response>;
  /** Resolves when the connection is closed, by whomever, and never rejects: why, if it broke. */
  readonly ended: Promise<unknown>;
  /** Ends the connection; requests under way fail. */
  close(): void;
}
