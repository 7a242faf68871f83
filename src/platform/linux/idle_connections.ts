/** Closes idle connections of this process (Linux), because Deno's HTTP server keeps idle connections forever. */
import type { SilenceLimits } from "../http.ts";
import { openLibc } from "./libc.ts";
import { ipEnd, isListener, optionOf } from "./socket_options.ts";
import { SOCKET_OPTION_FUNCTIONS } from "./sockets.ts";

const FUNCTIONS = { ...SOCKET_OPTION_FUNCTIONS, shutdown: { parameters: ["i32", "i32"], result: "i32" } } as const;
const SHUT_RDWR = 2;
/** IPPROTO_TCP, TCP_INFO, and the bytes to read. */
const TCP_INFO = [6, 11, 60] as const;
/** Offsets in `struct tcp_info` (include/uapi/linux/tcp.h) of the milliseconds since data were last sent and received. */
const LAST = { sent: 44, received: 52 } as const;

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
  const { symbols, close } = openLibc(FUNCTIONS);
  const isOfPort = (file: number) => ipEnd(symbols, file)?.port === port && isListener(symbols, file) === false;
  function silenceOf(file: number): number {
    const info = optionOf(symbols, file, TCP_INFO);
    return info === undefined ? 0 : Math.min(info.getUint32(LAST.sent, true), info.getUint32(LAST.received, true));
  }
  return {
    sweep() {
      const found = [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => Number(name)).filter(isOfPort)
        .map((file) => ({ file, silent: silenceOf(file) })).sort((a, b) => b.silent - a.silent);
      const closed = found.filter(({ silent }, at) => at < found.length - most || silent > silence);
      for (const { file } of closed) symbols.shutdown(file, SHUT_RDWR);
      return closed.length;
    },
    close,
  };
}
