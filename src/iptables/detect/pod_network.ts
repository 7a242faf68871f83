/** What the rules need to know of the pod's network: its addresses and its DNS servers (spec/iptables.md 1.4). */
import { type Address, parseAddress } from "../../core/net.ts";
import { isLinkLocal, isLoopback, unmapped } from "../address_text.ts";

/** The network of a pod. */
export interface PodNetwork {
  /** The address that decides the family; `undefined` if the pod has none but of the loopback or a link. */
  readonly hostAddress: Address | undefined;
  readonly hasIpv6: boolean;
}

/**
 * The pod's network out of the addresses of its interfaces: IPv4 before IPv6 whatever the interface. Without
 * `dualStack` the first address decides whether IPv6 is captured, with it any IPv6 address does.
 */
export function podNetwork(texts: readonly string[], dualStack: boolean): PodNetwork {
  const addresses = texts.map(parseAddress)
    .filter((address): address is Address => typeof address !== "string")
    .map(unmapped)
    .filter((address) => !isLoopback(address) && !isLinkLocal(address) && !isUnderlying(address));
  const ordered = [
    ...addresses.filter(({ family }) => family === 4),
    ...addresses.filter(({ family }) => family === 6),
  ];
  const candidates = dualStack ? ordered : ordered.slice(0, 1);
  return { hostAddress: ordered[0], hasIpv6: candidates.some(({ family }) => family === 6) };
}

/** `::6`, which an earlier run gave to the loopback interface: it says nothing of the pod's network. */
function isUnderlying({ family, value }: Address): boolean {
  return family === 6 && value === 6n;
}
