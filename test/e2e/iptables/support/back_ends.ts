/** The back ends of the kernel, and what each needs. */
import { needsNamespaces } from "./pod.ts";

/** A back end, with the flags that choose it. */
export interface BackEnd {
  readonly name: "iptables-nft" | "nft" | "iptables-legacy";
  readonly flags: readonly string[];
  readonly missing: string | undefined;
}

/** By netlink where the kernel has it. */
export const BACK_ENDS: readonly BackEnd[] = [
  {
    name: "iptables-nft",
    flags: ["--force-iptables-binary", "nft"],
    missing: needsNamespaces("iptables-nft-restore", "nft"),
  },
  { name: "nft", flags: ["--native-nftables"], missing: needsNamespaces("nft", "iptables-nft-save") },
  {
    name: "iptables-legacy",
    flags: ["--force-iptables-binary", "legacy"],
    missing: needsNamespaces("iptables-legacy-restore", "nft", "iptables-nft-save"),
  },
];

/** By programs only. */
export const PROGRAM_BACK_ENDS: readonly BackEnd[] = BACK_ENDS.map((backEnd) => ({
  ...backEnd,
  flags: [...backEnd.flags, "--via", "programs"],
}));
