import { type Address, parseAddress } from "./parse.ts";

/** The text and the address of a `nameserver` line. The address may have a zone. */
export interface Nameserver {
  readonly host: string;
  readonly address: Address;
}

/** Reads the `nameserver` lines of a resolv.conf(5), in order. `invalid` lists texts that are not IP addresses. */
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
