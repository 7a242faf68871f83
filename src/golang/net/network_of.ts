import { addressText, unmapped } from "./address_text.ts";
import { parseAddress } from "./parse.ts";

/** The client that an address belongs to: the address for IPv4, its /64 for IPv6, because a host may use all of those. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (typeof address === "string") return text;
  const { family, value } = unmapped(address);
  return addressText({ family, value: family === 4 ? value : value >> 64n << 64n, zone: "" });
}
