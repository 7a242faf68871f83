/** A pod's kernel rules: read from the kernel, else computed from the arguments of its init container. */
import { type Packet, plannedRules, savedRules, type TracedRules } from "../../iptables/mod.ts";
import type { Part, Snapshot } from "../snapshot/snapshot.ts";
import type { Pod } from "../pod.ts";

export type KernelRules =
  | { readonly source: "seen" | "planned"; readonly rules: TracedRules; readonly why: string }
  | { readonly source: "unknown"; readonly rules?: undefined; readonly why: string };

/** Ports on which Envoy and the agent listen. Injection always excludes them from the redirection. */
export const OWN_PORTS: readonly string[] = ["15008", "15020", "15021", "15090"];

/** Returns the first packet of a TCP connection from another pod. */
export function arriving(parts: Pick<Packet, "family" | "source" | "destination" | "port">): Packet {
  const common = { protocol: "tcp", isSent: false, mark: 0 } as const;
  return { ...parts, ...common, inInterface: "eth0", outInterface: undefined, uid: undefined, gid: undefined };
}

/** Returns the kernel rules of a snapshot. `why` describes their source, or says why they are unknown. */
export function kernelRules({ parts }: Pick<Snapshot, "parts">, pod: Pod | undefined): KernelRules {
  const saved = [parts["rules.iptables"], parts["rules.ip6tables"], parts["rules.nft"]];
  if (saved.some(({ text }) => text !== undefined)) return seenRules(parts);
  const unread = reasonOf(saved);
  const planned = pod === undefined ? "the pod's manifest is absent" : rulesOfPod(pod);
  return typeof planned === "string"
    ? { source: "unknown", why: `${unread}, and ${planned}` }
    : { source: "planned", rules: planned, why: `computed from the arguments of ${pod?.capture?.name}: ${unread}` };
}

function seenRules(parts: Snapshot["parts"]): KernelRules {
  try {
    const rules = savedRules({
      iptables: parts["rules.iptables"].text,
      ip6tables: parts["rules.ip6tables"].text,
      nft: parts["rules.nft"].text,
    });
    return { source: "seen", rules, why: "read from the kernel" };
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
    return { source: "unknown", why: "rules.nft contains JSON instead of the text of nft list ruleset" };
  }
}

/** Returns why the rules were not read. A failure to read them is a better reason than "not in the snapshot". */
function reasonOf(saved: readonly Part[]): string {
  const found = saved.find(({ absent }) => absent !== undefined && absent !== "not-in-snapshot");
  return found?.message ?? "the snapshot does not contain the kernel's rules";
}

/** Computes the rules from the arguments of istio-iptables in the pod, or returns why this is not possible. */
function rulesOfPod(pod: Pod): TracedRules | string {
  if (pod.capture === undefined) return "no init container has the arguments of istio-iptables";
  const hasIpv6 = pod.addresses.some((address) => address.includes(":"));
  const { arguments: args, environment, isScript } = pod.capture;
  const planned = plannedRules(args, { hasIpv6, dnsServers: [], environment, isScript });
  return "rules" in planned ? planned : `istio-iptables rejects the arguments: ${planned[0] ?? ""}`;
}
