import { addressText, unmapped } from "./address_text.ts";
import { parseAddress } from "./parse.ts";

/** What counts as one client: an address of IPv4; of IPv6 its first 64 bits, as a host may use all addresses of its network. */
export function networkOf(text: string): string {
  const address = parseAddress(text);
  if (typeof address === "string") return text;
  const { family, value } = unmapped(address);
  return addressText({ family, value: family === 4 ? value : value >> 64n << 64n, zone: "" });
}
