/** Values that the rules of iptables-nft and nft share. */

/** Bits of `ct state` (NF_CT_STATE_BIT in linux/netfilter/nf_conntrack_common.h). */
export const STATES: Readonly<Record<string, number>> = {
  INVALID: 1,
  ESTABLISHED: 2,
  RELATED: 4,
  NEW: 8,
  UNTRACKED: 64,
};

/** Returns the mask of a prefix length, in a field of `size` bytes. */
export function prefixMask(bits: number, size: number): Uint8Array {
  return Uint8Array.from({ length: size }, (_, at) => (0xff00 >> Math.min(8, Math.max(0, bits - 8 * at))) & 0xff);
}

/** Counts the bits that are 1. */
export function bitCount(value: number): number {
  return value.toString(2).replaceAll("0", "").length;
}

/** Combines the bits of connection states such as `RELATED`. */
export function stateBits(states: readonly string[]): number {
  return states.reduce((bits, state) => bits | (STATES[state] ?? 0), 0);
}
