/** Calls of the operating system that Deno has none for. */
export interface SystemCalls {
  /** Sends one netlink message and returns all messages of the answer, headers included. Throws `SystemError`. */
  netlink(protocol: number, message: Uint8Array): Uint8Array;
  /** Makes this thread, and the programs that it starts, work in a network namespace. Throws `SystemError`. */
  enterNetworkNamespace(path: string): void;
}

/** A call that failed, with the number of its error (errno(3)). */
export class SystemError extends Error {
  constructor(readonly call: string, readonly errno: number) {
    super(`${call}: ${ERRORS[errno] ?? `error ${errno}`}`);
  }
}

export const EPERM = 1;
export const ENOENT = 2;
export const EEXIST = 17;

const ERRORS: Readonly<Record<number, string>> = {
  1: "operation not permitted",
  2: "no such file or directory",
  3: "no such process",
  13: "permission denied",
  17: "file exists",
  19: "no such device",
  22: "invalid argument",
  93: "protocol not supported",
  95: "operation not supported",
  97: "address family not supported",
  99: "cannot assign requested address",
  101: "network is unreachable",
};
