/** Closes idle connections of this process (Linux), because Deno's HTTP server keeps idle connections forever. */
import type { SilenceLimits } from "../http.ts";
import { openLimitLibc } from "./libc.ts";
import { AF, endpointOf } from "./socket_address.ts";

const SOL_SOCKET = 1;
const SO_ACCEPTCONN = 30;
const IPPROTO_TCP = 6;
const TCP_INFO = 11;
/**
 * Part of `struct tcp_info` (include/uapi/linux/tcp.h): bytes to read, and offsets of the milliseconds since data were
 * last sent and received.
 */
const INFO = { bytes: 60, lastSent: 44, lastReceived: 52 } as const;
const SHUT_RDWR = 2;
const ADDRESS_BYTES = 28;

/** Closes idle connections of one port. */
export interface IdleConnections {
  /**
   * Closes connections that have been idle too long. If more than the maximum number of connections remain, also
   * closes those idle longest. Returns the number of closed connections.
   */
  sweep(): number;
  close(): void;
}

/** Opens the C library. Throws `SystemError` if the C library is missing. `sweep` reads `/proc`, which needs all permissions. */
export function idleConnections(port: number, { most, silence }: SilenceLimits): IdleConnections {
  const { symbols, close } = openLimitLibc();
  const option = (file: number, level: number, name: number, size: number) => {
    const value = new Uint8Array(size);
    return symbols.getsockopt(file, level, name, value, sizeBytes(size)) === 0 ? new DataView(value.buffer) : undefined;
  };
  function isOfPort(file: number): boolean {
    const address = new Uint8Array(ADDRESS_BYTES);
    if (symbols.getsockname(file, address, sizeBytes(ADDRESS_BYTES)) !== 0) return false;
    const [family = 0] = address;
    return (family === AF.inet || family === AF.inet6) && endpointOf(address).port === port &&
      option(file, SOL_SOCKET, SO_ACCEPTCONN, 4)?.getInt32(0, true) === 0;
  }
  function silenceOf(file: number): number {
    const info = option(file, IPPROTO_TCP, TCP_INFO, INFO.bytes);
    return info === undefined
      ? 0
      : Math.min(info.getUint32(INFO.lastSent, true), info.getUint32(INFO.lastReceived, true));
  }
  return {
    sweep() {
      const found = [...openFiles()].filter(isOfPort).map((file) => ({ file, silent: silenceOf(file) }))
        .sort((a, b) => b.silent - a.silent);
      const tooMany = Math.max(0, found.length - most);
      const closed = found.filter(({ silent }, at) => at < tooMany || silent > silence);
      for (const { file } of closed) symbols.shutdown(file, SHUT_RDWR);
      return closed.length;
    },
    close,
  };
}

function* openFiles(): Iterable<number> {
  for (const { name } of Deno.readDirSync("/proc/self/fd")) yield Number(name);
}

function sizeBytes(size: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(Uint32Array.of(size).buffer);
}
