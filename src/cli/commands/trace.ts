import { flag, type FlagGroups, TIMER } from "../../golang/flags/mod.ts";
import { command } from "../command.ts";

const FLAGS = {
  "The flow": {
    to: flag("--to HOST:PORT", "Send a packet to this address, and trace it", { excludes: ["from"] }),
    from: flag("--from ADDRESS", "Wait for a packet from this address, or from any address", { excludes: ["to"] }),
    udp: flag("--udp", "Use UDP instead of TCP"),
    uid: flag("--uid UID", "User that sends the packet, such as 1337 for the proxy", {
      type: "integer",
      least: 0,
      most: 2 ** 32 - 2,
      needs: ["to"],
      defaultDoc: "the user of this process",
    }),
    for: flag("--for TIME", "Maximum time to wait for the packet", { ...TIMER, least: 1, default: "10s" }),
    networkNamespace: flag("--network-namespace FILE", "Path of the network namespace to work in"),
  },
} as const satisfies FlagGroups;

export const TRACE = command({
  summary: "Trace the path of one flow through the kernel's rules",
  description:
    "The kernel reports each rule that the flow's first packet passes (nftrace). With --to, this process sends " +
    "the packet. The kernel removes the rule that starts the trace when this process ends. Shows rules of nft and " +
    "iptables-nft, but not of iptables-legacy. Needs NET_ADMIN and Linux 5.12.",
  usage: "(--to HOST:PORT | --from ADDRESS) [flags]",
  examples: [
    { command: "kubectl mesh iptables trace --to 10.96.0.1:443" },
    {
      title: "DNS, and the proxy's own connection",
      command:
        "kubectl mesh iptables trace --to 10.96.0.10:53 --udp\nkubectl mesh iptables trace --to 10.96.0.1:443 --uid 1337",
    },
    {
      title: "An inbound connection, traced from the node",
      command: "kubectl mesh iptables trace --from any --network-namespace /proc/PID/ns/net",
    },
  ],
  flags: FLAGS,
  exits: { ok: true, failed: "no packet was seen, or packets cannot be traced", usage: true },
  run: async (world, { flags }) => {
    const { runTrace } = await import("../../iptables/mod.ts");
    const { to, from, udp: isUdp, uid, networkNamespace } = flags;
    return await runTrace(world, { to, from, isUdp, uid, milliseconds: flags.for, networkNamespace });
  },
});
