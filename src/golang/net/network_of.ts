import { addressText, unmapped } from "./address_text.ts";
import { parseAddress } from "./parse.ts";

/**
 * Identifies a client by its address: the whole IPv4 address, or the /64 of an IPv6 address, because a host may use any
 * address in its /64.
 */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (typeof address === "string") return text;
  const { family, value } = unmapped(address);
  return addressText({ family, value: family === 4 ? value : value >> 64n << 64n, zone: "" });
}
