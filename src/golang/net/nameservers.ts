import { type Address, parseAddress } from "./parse.ts";

/** A `nameserver` line: its text, and the address, which may have a zone. */
export interface Nameserver {
  readonly host: string;
  readonly address: Address;
}

/** The `nameserver` lines of a resolv.conf(5), in order. `invalid`: texts that are not IP addresses. */
export function nameservers(text: string) {
  const servers: Nameserver[] = [];
  const invalid: string[] = [];
  for (const line of text.split("\n")) {
    const [keyword, host] = line.trim().split(/\s+/);
    if (keyword !== "nameserver" || host === undefined) continue;
    const address = parseAddress(host);
    if (typeof address === "string") invalid.push(host);
    else servers.push({ host, address });
  }
  return { servers, invalid };
}
