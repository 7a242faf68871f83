/** The addresses of the pod. Source: pilot-agent's initProxy and network.GetPrivateIPs. */
import { type Address, parseAddress } from "../../../golang/net/mod.ts";
import type { InterfaceAddress, World } from "../../../platform/world.ts";

const WAIT = 120_000;
const PERIOD = 100;
/** Used when the pod has loopback addresses only. */
const LOOPBACK = ["127.0.0.1", "::1"];

/** The address families of a pod. */
export type IpMode = "ipv4" | "ipv6" | "dual";

/**
 * The pod's addresses: `INSTANCE_IP` first if it is valid, then those of its interfaces without the excluded ones.
 * Waits up to two minutes while an interface has an unspecified address.
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

/** The addresses grouped by interface; empty if an interface is still without one at the timeout. */
async function settledInterfaces(world: World): Promise<readonly InterfaceAddress[]> {
  const end = world.clock.monotonic() + WAIT;
  for (;;) {
    const all = world.network.interfaces();
    if (!all.some(({ address }) => isUnspecified(address))) return byInterface(all);
    if (world.clock.monotonic() >= end) return [];
    await world.clock.sleep(PERIOD);
  }
}

/** The kernel lists addresses by family; Istio lists them by interface. */
function byInterface(all: readonly InterfaceAddress[]): InterfaceAddress[] {
  return [...Map.groupBy(all, ({ name }) => name).values()].flat();
}

function isUnspecified(text: string): boolean {
  const address = parseAddress(text);
  return typeof address !== "string" && address.value === 0n;
}

/** Addresses that other hosts can reach: not loopback, not link-local. */
function addressesOf(all: readonly InterfaceAddress[]): string[] {
  const loopbacks = new Set(all.filter(({ address }) => LOOPBACK.includes(address)).map(({ name }) => name));
  return all.filter(({ name }) => !loopbacks.has(name)).flatMap(({ address }) => {
    const read = parseAddress(address);
    const plain = typeof read === "string" ? undefined : unmapped(read);
    return plain === undefined || isLocal(plain) ? [] : [addressText(plain)];
  });
}

const MAPPED = 0xffffn;

/** `::ffff:10.0.0.1` is the IPv4 address 10.0.0.1. */
function unmapped({ family, value, zone }: Address): Address {
  return family === 6 && value >> 32n === MAPPED
    ? { family: 4, value: value & 0xffffffffn, zone: "" }
    : { family, value, zone };
}

function isLocal({ family, value }: Address): boolean {
  if (family === 4) return value >> 24n === 127n || value >> 16n === 0xa9fen || value >> 8n === 0xe00000n;
  return value === 1n || value >> 118n === 0x3fan || value >> 112n === 0xff02n;
}

/** The address families among `addresses`. */
export function ipModeOf(addresses: readonly string[]): IpMode {
  const isV6 = addresses.map((text) => text.includes(":"));
  if (isV6.every((yes) => !yes)) return "ipv4";
  return isV6.every((yes) => yes) ? "ipv6" : "dual";
}

/** The canonical text of an address, as `netip.Addr.String` writes it (RFC 5952). */
export function addressText({ family, value, zone }: Address): string {
  if (family === 4) return bytes(value);
  const suffix = zone === "" ? "" : `%${zone}`;
  if (value >> 32n === 0xffffn) return `::ffff:${bytes(value & 0xffffffffn)}${suffix}`;
  return shorten(groups(value)) + suffix;
}

function bytes(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 0xffn).join(".");
}

function groups(value: bigint): string[] {
  return Array.from({ length: 8 }, (_, index) => ((value >> BigInt(112 - 16 * index)) & 0xffffn).toString(16));
}

/** The longest run of at least two zero groups becomes `::`; the first one if several are equally long. */
function shorten(parts: readonly string[]): string {
  const text = parts.join(":");
  const runs = [...text.matchAll(/(?<![^:])0(?::0)+(?![^:])/g)];
  const longest = runs.reduce((best, [run]) => Math.max(best, run.length), 0);
  const run = runs.find(([each]) => each.length === longest);
  if (run === undefined) return text;
  const head = text.slice(0, run.index).replace(/:$/, "");
  const tail = text.slice(run.index + longest).replace(/^:/, "");
  return `${head}::${tail}`;
}
