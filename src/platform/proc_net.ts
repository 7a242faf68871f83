/** The TCP sockets of a network namespace (proc(5), `/proc/net/tcp` and `tcp6`). */
import type { Endpoint } from "./mod.ts";

export interface Connection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly isListening: boolean;
  /** TCP state in hexadecimal, such as `01` for ESTABLISHED and `08` for CLOSE_WAIT. */
  readonly state: string;
  /** The inode in the links of `/proc/PID/fd`; empty in a truncated line. */
  readonly inode: string;
}

const ENDPOINT = /^[0-9A-F]+:[0-9A-F]{4}$/;
/** Column of the inode (Documentation/networking/proc_net_tcp.rst of the kernel). */
const INODE = 9;
const LISTEN = "0A";

/** Parses the sockets in the text of `/proc/net/tcp` or `tcp6`. Ignores the header and other lines. */
export function parseConnections(text: string): Connection[] {
  return text.split("\n").flatMap((line) => connectionOf(line) ?? []);
}

/** Parses one line; `undefined` if the line does not describe a socket. */
export function connectionOf(line: string): Connection | undefined {
  const fields = line.trim().split(/\s+/);
  const [slot = "", local = "", remote = "", state = ""] = fields;
  if (!/^\d+:$/.test(slot) || !/^[0-9A-F]{2}$/.test(state) || !ENDPOINT.test(local) || !ENDPOINT.test(remote)) return;
  const inode = /^\d+$/.exec(fields[INODE] ?? "")?.[0] ?? "";
  return { local: endpoint(local), remote: endpoint(remote), isListening: state === LISTEN, state, inode };
}

/**
 * Parses an endpoint such as `0100007F:3A99`: 32-bit words in host byte order (little-endian on all platforms of
 * Istio), then the port.
 */
function endpoint(text: string): Endpoint {
  const [hex = "", port = ""] = text.split(":");
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.map((word) => word.match(/../g)?.reverse().join("") ?? "").join("");
  return {
    address: { family: words.length === 1 ? 4 : 6, value: BigInt(`0x${bytes || "0"}`), zone: "" },
    port: Number.parseInt(port, 16),
  };
}
