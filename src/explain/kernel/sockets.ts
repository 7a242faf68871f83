/** Listening sockets: from `/proc/net/tcp` and `tcp6`, or from `ss -ltn`. */
import { type Address, addressText, parseAddress, splitHostPort } from "../../golang/net/mod.ts";
import { connectionOf, parseConnections } from "../../platform/proc_net.ts";
import type { Endpoint } from "../../platform/mod.ts";

export interface ListeningSocket {
  readonly address: string;
  readonly port: number;
  /** It listens on every address of the pod. */
  readonly isWildcard: boolean;
  readonly isLoopback: boolean;
}

/** The listening sockets. Other lines are ignored. */
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

/** The sockets in the text of `/proc/net/tcp` and `tcp6`. */
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

/** `LISTEN 0 4096 *:8080 *:*`. */
function ofSs(line: string): ListeningSocket | undefined {
  const [, local = ""] = /^(?:tcp6?\s+)?LISTEN\s+\d+\s+\d+\s+(\S+)\s/.exec(line) ?? [];
  const parts = splitHostPort(local.replace(/^\*:/, "[::]:").replace(/%\w+/, ""));
  return typeof parts === "string" || local === "" ? undefined : socket(parts.host, Number(parts.port));
}

function socket(text: string, port: number): ListeningSocket {
  const mapped = text.replace(/^::ffff:/, "");
  const isWildcard = mapped === "0.0.0.0" || mapped === "::";
  return { address: mapped, port, isWildcard, isLoopback: isLoopback(addressOf(mapped)) };
}

/** The address in a text; `undefined` for another text. */
export function addressOf(text: string | undefined): Address | undefined {
  const address = text === undefined ? undefined : parseAddress(text);
  return typeof address === "string" ? undefined : address;
}

/** Whether it is a loopback address. */
export function isLoopback(address: Address | undefined): boolean {
  return address !== undefined && (address.family === 4 ? address.value >> 24n === 127n : address.value === 1n);
}

/** The sockets that a connection to this address reaches. `[::]` takes IPv4 too. */
export function socketsFor(sockets: readonly ListeningSocket[], address: string, port: number): ListeningSocket[] {
  return sockets.filter((each) =>
    each.port === port &&
    (each.address === address || each.isWildcard && (each.address === "::" || !address.includes(":")))
  );
}
