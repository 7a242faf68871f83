/** Finds the addresses of the pod. Source: pilot-agent's initProxy and network.GetPrivateIPs. */
import { addressText, isLinkLocal, isLoopback, parseAddress, unmapped } from "../../../golang/net/mod.ts";
import type { InterfaceAddress, World } from "../../../platform/world.ts";

const WAIT = 120_000;
const PERIOD = 100;
/** Addresses for a pod that has loopback addresses only. */
const LOOPBACK = ["127.0.0.1", "::1"];

export type IpMode = "ipv4" | "ipv6" | "dual";

/**
 * Returns `INSTANCE_IP` first if it is valid, then the addresses of all interfaces that are not excluded. Waits up to
 * two minutes while an interface has an unspecified address.
 */
export async function discoverAddresses(
  world: World,
  instanceIp: string,
  excludedInterfaces: readonly string[],
): Promise<readonly string[]> {
  const instance = parseAddress(instanceIp);
  const first = typeof instance === "string" ? [] : [addressText(instance)];
  const all = await settledInterfaces(world);
  const found = all.length === 0 ? [] : addressesOf(all);
  const excluded = new Set(addressesOf(all.filter(({ name }) => excludedInterfaces.includes(name))));
  const others = (found.length === 0 ? LOOPBACK : found).filter((text) => !excluded.has(text));
  return [...new Set([...first, ...others])];
}

/** Returns the interfaces; empty if an interface still has no address at the timeout. */
async function settledInterfaces(world: World): Promise<readonly InterfaceAddress[]> {
  const end = world.clock.monotonic() + WAIT;
  for (;;) {
    const all = world.network.interfaces();
    if (!all.some(({ address }) => isUnspecified(address))) {
      // Istio lists the addresses by interface, the kernel by family.
      return [...Map.groupBy(all, ({ name }) => name).values()].flat();
    }
    if (world.clock.monotonic() >= end) return [];
    await world.clock.sleep(PERIOD);
  }
}

function isUnspecified(text: string): boolean {
  const address = parseAddress(text);
  return typeof address !== "string" && address.value === 0n;
}

/** Returns the addresses that other hosts can reach: neither loopback nor link-local. */
function addressesOf(all: readonly InterfaceAddress[]): string[] {
  const loopbacks = new Set(all.filter(({ address }) => LOOPBACK.includes(address)).map(({ name }) => name));
  return all.filter(({ name }) => !loopbacks.has(name)).flatMap(({ address }) => {
    const read = parseAddress(address);
    const plain = typeof read === "string" ? undefined : unmapped(read);
    return plain === undefined || isLoopback(plain) || isLinkLocal(plain) ? [] : [addressText(plain)];
  });
}

/** Returns the address families among `addresses`. */
export function ipModeOf(addresses: readonly string[]): IpMode {
  const isV6 = addresses.map((text) => text.includes(":"));
  if (isV6.every((yes) => !yes)) return "ipv4";
  return isV6.every((yes) => yes) ? "ipv6" : "dual";
}
