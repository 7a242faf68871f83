/** System calls that Deno does not offer (Linux). */
import type { Address } from "../golang/net/mod.ts";

export interface SystemCalls {
  /** Makes this process the parent of its orphaned descendants, like PID 1 (PR_SET_CHILD_SUBREAPER). Throws `SystemError`. */
  adoptOrphans(): void;
  /**
   * Returns a function that drops free memory and unmodified pages of the program file, which the kernel loads again on
   * access. The function also works after giving up permissions. Both functions throw `SystemError`.
   */
  memoryReleaser(): () => void;
  /** Whether a child has exited and is not yet reaped. Throws `SystemError`. */
  hasEndedChild(): boolean;
  /** Reaps an exited child. Throws `SystemError`. */
  reap(pid: number): void;
  /** Sends a netlink message and returns all messages of the response, with headers. Throws `SystemError`. */
  netlink(protocol: number, message: Uint8Array): Uint8Array;
  /** Opens a netlink socket that receives the messages of a multicast group. Throws `SystemError`. */
  openNetlink(protocol: number, group: number): NetlinkSocket;
  /** Moves this process, and the programs that it starts, into a network namespace. Throws `SystemError`. */
  enterNetworkNamespace(path: string): void;
  /** Makes a folder the root of this process's file system (chroot(2)) and its working directory. Throws `SystemError`. */
  enterRoot(path: string): void;
  /** Returns the index of a network interface; `undefined` if no interface has that name. */
  interfaceIndex(name: string): number | undefined;
  /** Reads an IP socket option (getsockopt(2)) into a copy of `value`. Throws `SystemError`. */
  internetOption(family: 4 | 6, option: number, value: Uint8Array): Uint8Array;
  /** Opens a non-blocking socket. Throws `SystemError`. */
  openSocket(options: SocketOptions): Socket;
  /**
   * Replaces this process with a program from PATH (execvp(3)) and keeps environment, standard streams and terminal. Throws
   * `SystemError` if that fails.
   */
  execute(file: string, args: readonly string[]): never;
}

export interface SocketOptions {
  /** `packet` receives whole frames of one interface (packet(7)) and needs NET_RAW. */
  readonly kind: "stream" | "datagram" | "packet";
  readonly family: 4 | 6;
  /** Owner of the socket, which iptables rules can match. Another user or group needs SETUID or SETGID. */
  readonly uid?: number;
  readonly gid?: number;
  /** Accepts connections to foreign addresses (IP_TRANSPARENT); needs NET_ADMIN or NET_RAW. */
  readonly transparent?: boolean;
}

/** An address and a port. */
export interface Endpoint {
  readonly address: Address;
  readonly port: number;
}

/** A socket. All methods except `close` throw `SystemError`. */
export interface Socket {
  bind(local: Endpoint): void;
  bindInterface(index: number): void;
  listen(): void;
  /** Starts to connect. `failure` and `receive` report the result. */
  connect(remote: Endpoint): void;
  /** Accepts an incoming connection; `undefined` if none waits. */
  accept(): { readonly socket: Socket; readonly remote: Endpoint } | undefined;
  local(): Endpoint;
  /** Returns the error number (errno) of the connection attempt; 0 if it has not failed. */
  failure(): number;
  send(bytes: Uint8Array): void;
  /** Returns received bytes; `undefined` if no bytes wait, empty at the end of a stream. */
  receive(): Uint8Array | undefined;
  close(): void;
}

/** A netlink socket (netlink(7)). All methods except `close` throw `SystemError`. */
export interface NetlinkSocket {
  send(message: Uint8Array): void;
  /** Returns received messages with headers; `undefined` if no messages wait. */
  receive(): Uint8Array | undefined;
  close(): void;
}

/** A failed system call, with its error number (errno(3)). */
export class SystemError extends Error {
  constructor(readonly call: string, readonly errno: number) {
    super(`${call}: ${ERRORS[errno] ?? `error ${errno}`}`);
  }
}

/** Error numbers of Linux (errno(3)). */
export const EPERM = 1;
export const ENOENT = 2;
export const EAGAIN = 11;
export const EACCES = 13;
export const EEXIST = 17;
export const EADDRINUSE = 98;
export const EINPROGRESS = 115;

const ERRORS: Readonly<Record<number, string>> = {
  1: "operation not permitted",
  2: "no such file or directory",
  3: "no such process",
  13: "permission denied",
  17: "file exists",
  19: "no such device",
  22: "invalid argument",
  38: "function not implemented",
  93: "protocol not supported",
  95: "operation not supported",
  97: "address family not supported",
  98: "address in use",
  99: "cannot assign requested address",
  101: "network is unreachable",
  110: "connection timed out",
  111: "connection refused",
  113: "no route to host",
};
