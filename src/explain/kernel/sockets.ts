/** Reads listening sockets from `/proc/net/tcp` and `tcp6`, or from the output of `ss -ltn`. */
import { addressText, isLoopback } from "../../golang/net/mod.ts";
import { addressOf, hostAndPort } from "../address.ts";
import { connectionOf, parseConnections } from "../../platform/proc_net.ts";
import type { Endpoint } from "../../platform/mod.ts";

export interface ListeningSocket {
  readonly address: string;
  readonly port: number;
  readonly isWildcard: boolean;
  readonly isLoopback: boolean;
}

/** Returns the listening sockets. Ignores lines in other formats. */
export function listeningSockets(text: string): ListeningSocket[] {
  return text.split("\n").flatMap((line) => ofProc(line) ?? ofSs(line) ?? []);
}

export interface SocketEnd {
  readonly address: string;
  readonly port: number;
}

/** A TCP socket of `/proc/net/tcp` or `tcp6`. IPv4 addresses mapped to IPv6 are IPv4. */
export interface ProcSocket {
  readonly local: SocketEnd;
  readonly remote: SocketEnd;
  readonly state: string;
  readonly inode: string;
}

/** Returns the sockets in the text of `/proc/net/tcp` and `tcp6`. */
export function procSockets(text: string): ProcSocket[] {
  return parseConnections(text).map((each) => ({ ...each, local: endOf(each.local), remote: endOf(each.remote) }));
}

function endOf({ address, port }: Endpoint): SocketEnd {
  return { address: addressText(address).replace(/^::ffff:(?=.*\.)/, ""), port };
}

function ofProc(line: string): ListeningSocket[] | undefined {
  const connection = connectionOf(line);
  if (connection === undefined) return undefined;
  const { local, isListening } = connection;
  return isListening ? [socket(addressText(local.address), local.port)] : [];
}

/** Reads a line of `ss -ltn`, such as `LISTEN 0 4096 *:8080 *:*`. */
function ofSs(line: string): ListeningSocket | undefined {
  const [, local = ""] = /^(?:tcp6?\s+)?LISTEN\s+\d+\s+\d+\s+(\S+)\s/.exec(line) ?? [];
  const parts = hostAndPort(local.replace(/^\*:/, "[::]:").replace(/%\w+/, ""));
  return parts && socket(parts.host, parts.port);
}

function socket(text: string, port: number): ListeningSocket {
  const mapped = text.replace(/^::ffff:/, "");
  const parsed = addressOf(mapped);
  const isWildcard = mapped === "0.0.0.0" || mapped === "::";
  return { address: mapped, port, isWildcard, isLoopback: parsed !== undefined && isLoopback(parsed) };
}

/** Returns the sockets that accept connections to this address. `[::]` accepts IPv4 too. */
export function socketsFor(sockets: readonly ListeningSocket[], address: string, port: number): ListeningSocket[] {
  return sockets.filter((each) =>
    each.port === port &&
    (each.address === address || each.isWildcard && (each.address === "::" || !address.includes(":")))
  );
}
