/** DNS servers of a machine: the `nameserver` lines of resolv.conf(5). */
import { type Address, parseAddress } from "../../core/net.ts";

/** The servers in their order, and the texts that are no address. A zone is left out: no rule can match one. */
export function nameservers(
  text: string,
): { readonly servers: readonly Address[]; readonly unreadable: readonly string[] } {
  const words = text.split("\n").flatMap((line) => {
    const [keyword, server] = line.trim().split(/\s+/);
    return keyword === "nameserver" && server !== undefined ? [server] : [];
  });
  const read = words.map((word) => ({ word, address: parseAddress(word) }));
  const servers = read.flatMap(({ address }) => typeof address === "string" ? [] : [{ ...address, zone: "" }]);
  return { servers, unreadable: read.flatMap(({ word, address }) => typeof address === "string" ? [word] : []) };
}
