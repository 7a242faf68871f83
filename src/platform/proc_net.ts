/** The TCP sockets of a network namespace (proc(5), `/proc/net/tcp` and `tcp6`). */
import type { Endpoint } from "./mod.ts";

export interface Connection {
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly isListening: boolean;
  /** `01` is ESTABLISHED, `08` CLOSE_WAIT. */
  readonly state: string;
  /** What `/proc/PID/fd` names; empty in a shortened line. */
  readonly inode: string;
}

const ENDPOINT = /^[0-9A-F]+:[0-9A-F]{4}$/;
/** The column of the inode: Documentation/networking/proc_net_tcp.rst of the kernel. */
const INODE = 9;
const LISTEN = "0A";

/** The sockets of such files; the head of a file and other lines are ignored. */
export function parseConnections(text: string): Connection[] {
  return text.split("\n").flatMap((line) => connectionOf(line) ?? []);
}

/** The socket of a line, if it is one. */
export function connectionOf(line: string): Connection | undefined {
  const fields = line.trim().split(/\s+/);
  const [slot = "", local = "", remote = "", state = ""] = fields;
  if (!/^\d+:$/.test(slot) || !/^[0-9A-F]{2}$/.test(state) || !ENDPOINT.test(local) || !ENDPOINT.test(remote)) return;
  const inode = /^\d+$/.exec(fields[INODE] ?? "")?.[0] ?? "";
  return { local: endpoint(local), remote: endpoint(remote), isListening: state === LISTEN, state, inode };
}

/** `0100007F:3A99`: 32-bit words in host byte order (little-endian on all of Istio's machines), then the port. */
function endpoint(text: string): Endpoint {
  const [hex = "", port = ""] = text.split(":");
  const words = hex.match(/.{8}/g) ?? [];
  const bytes = words.map((word) => word.match(/../g)?.reverse().join("") ?? "").join("");
  return {
    address: { family: words.length === 1 ? 4 : 6, value: BigInt(`0x${bytes || "0"}`), zone: "" },
    port: Number.parseInt(port, 16),
  };
}
