/** The back ends of the kernel, and what each needs. */
import { needsNamespaces } from "./pod.ts";

/** A back end, with the flags that choose it. */
export interface BackEnd {
  readonly name: "iptables-nft" | "nft" | "iptables-legacy";
  readonly flags: readonly string[];
  readonly missing: string | undefined;
}

/** All back ends; they use netlink where the kernel supports it. */
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

/** The same back ends, which use only programs. */
export const PROGRAM_BACK_ENDS: readonly BackEnd[] = BACK_ENDS.map((backEnd) => ({
  ...backEnd,
  flags: [...backEnd.flags, "--via", "programs"],
}));
