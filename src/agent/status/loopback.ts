import { parseAddress } from "../../core/net.ts";

const MAPPED = 0xffffn << 32n;

/** Whether an address is one of this machine alone: 127.0.0.0/8, also as an IPv6 address, or ::1. */
export function isLoopback(text: string): boolean {
  const address = parseAddress(text);
  if (typeof address === "string") return false;
  const { family, value } = address;
  const isMapped = family === 6 && value >> 32n === MAPPED >> 32n;
  if (family === 4 || isMapped) return (value & 0xffffffffn) >> 24n === 127n;
  return value === 1n;
}
