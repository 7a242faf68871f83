/** The resolver's configuration: resolv.conf(5), as miekg/dns reads it. */
import { type Address, parseAddress } from "../../core/net.ts";
import { wireName } from "./wire.ts";

/** A server that other names are asked of. */
export interface Upstream {
  /** An IP address, perhaps with a zone. */
  readonly host: string;
  readonly port: number;
  readonly address: Address;
}

/** What is used of it. */
export interface ResolvConf {
  readonly servers: readonly Upstream[];
  /** The first search domain on the wire. */
  readonly search: string | undefined;
  /** Servers that are no addresses. */
  readonly unreadable: readonly string[];
}

export const DNS_PORT = 53;

/** Reads it; of several lines with search domains the last counts. The root is no search domain. */
export function readResolvConf(text: string, port = DNS_PORT): ResolvConf {
  const servers: Upstream[] = [];
  const unreadable: string[] = [];
  let search: string | undefined;
  for (const line of text.split("\n")) {
    if (/^[#;]/.test(line)) continue;
    const [keyword, first] = line.trim().split(/\s+/);
    if ((keyword === "search" || keyword === "domain") && first !== undefined) search = first;
    if (keyword !== "nameserver" || first === undefined) continue;
    const address = parseAddress(first);
    if (typeof address === "string") unreadable.push(first);
    else servers.push({ host: first, port, address });
  }
  return { servers, unreadable, search: search === undefined ? undefined : wireName(search) };
}
