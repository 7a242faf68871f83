/** Calls of the operating system that Deno has none for (Linux). */
import type { Address } from "../net.ts";

export interface SystemCalls {
  /** Orphans below this process become its children, as they do of PID 1 (PR_SET_CHILD_SUBREAPER). Throws `SystemError`. */
  adoptOrphans(): void;
  /** Takes pages of the program's file out of this process's memory; those that are needed come back. Throws `SystemError`. */
  leaveProgramFile(): void;
  /** Whether a child has ended that nobody has waited for. Throws `SystemError`. */
  hasEndedChild(): boolean;
  /** Takes the exit status of a child that has ended, so that the system forgets it. Throws `SystemError`. */
  reap(pid: number): void;
  /** Sends one netlink message and returns all messages of the answer, headers included. Throws `SystemError`. */
  netlink(protocol: number, message: Uint8Array): Uint8Array;
  /** Makes this process, and the programs that it starts, work in a network namespace. Throws `SystemError`. */
  enterNetworkNamespace(path: string): void;
  /** The number of a network interface of this namespace; `undefined` if there is none of that name. */
  interfaceIndex(name: string): number | undefined;
  /** An option of the protocol IP (getsockopt(2)): `value` as the call wants it, filled by the kernel. Throws `SystemError`. */
  internetOption(family: 4 | 6, option: number, value: Uint8Array): Uint8Array;
  /** A socket that never blocks. Throws `SystemError`. */
  openSocket(options: SocketOptions): Socket;
  /**
   * Becomes another program, looked for in PATH: same process, environment, open standard streams, terminal. Returns only
   * by throwing `SystemError`.
   */
  execute(file: string, args: readonly string[]): never;
}

/** What a socket is for. */
export interface SocketOptions {
  /** `packet`: whole frames of one interface (packet(7)); needs NET_RAW. */
  readonly kind: "stream" | "datagram" | "packet";
  readonly family: 4 | 6;
  /** Whose it is for rules that look at the owner; another user or group than one's own needs SETUID, SETGID. */
  readonly uid?: number;
  readonly gid?: number;
  /** It may take connections to addresses that are not of this machine (IP_TRANSPARENT); needs NET_ADMIN or NET_RAW. */
  readonly transparent?: boolean;
}

/** An address and a port. */
export interface Endpoint {
  readonly address: Address;
  readonly port: number;
}

/** A socket. Every call but `close` throws `SystemError` for what the kernel refuses. */
export interface Socket {
  bind(local: Endpoint): void;
  /** For a packet socket: the interface whose frames it sends and receives. */
  bindInterface(index: number): void;
  listen(): void;
  /** Starts to connect; whether it came about shows in `failure` and by what is received. */
  connect(remote: Endpoint): void;
  /** A connection that has come in; `undefined` while there is none. */
  accept(): { readonly socket: Socket; readonly remote: Endpoint } | undefined;
  /** The own end. */
  local(): Endpoint;
  /** Number of the error by which an attempt to connect ended; 0 while there is none. */
  failure(): number;
  send(bytes: Uint8Array): void;
  /** What has come in; `undefined` while nothing has, empty at the end of a stream. */
  receive(): Uint8Array | undefined;
  close(): void;
}

/** A call that failed, with the number of its error (errno(3)). */
export class SystemError extends Error {
  constructor(readonly call: string, readonly errno: number) {
    super(`${call}: ${ERRORS[errno] ?? `error ${errno}`}`);
  }
}

/** Numbers of errors on Linux (errno(3)). */
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
