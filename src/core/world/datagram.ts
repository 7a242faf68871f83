import type { ByteConnection } from "./byte_connection.ts";

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
