/** Detects the environment of a run: users and groups, the pod's addresses and DNS servers. */
import { type Logger, logText } from "../platform/log.ts";
import { MeshError, messageOf } from "../base/errors.ts";
import { type Address, isLinkLocal, isLoopback, nameservers, parseAddress, unmapped } from "../golang/net/mod.ts";
import { SystemError } from "../platform/mod.ts";
import type { World } from "../platform/world.ts";
import type { OwnerNames } from "./kernel/xtables/rule_options.ts";
import type { PlanNetwork } from "./plan/plan.ts";
import { parseNames } from "./settings/values.ts";
import type { CaptureSettings } from "./settings/settings.ts";

/** Reads the names of users and groups. A missing file counts as empty. */
export async function ownerNames(world: World): Promise<OwnerNames> {
  const [users, groups] = await Promise.all(["/etc/passwd", "/etc/group"].map(async (path) => {
    const exists = await world.files.stat(path) !== undefined;
    return parseNames(exists ? await world.files.readText(path) : "");
  }));
  return { users: users ?? new Map(), groups: groups ?? new Map() };
}

const NO_ADDRESS = "This network namespace has only loopback and link-local addresses";

interface Detection {
  readonly capture: CaptureSettings;
  /** Whether a pod without an address is treated as IPv4, with a warning in the log. */
  readonly assumesIpv4: boolean;
  readonly log: Logger;
}

/**
 * Detects the pod's addresses and, if needed, its DNS servers. Throws a `MeshError` if the pod has no address and IPv4
 * is not assumed, or if needed DNS servers cannot be read.
 */
export async function detectNetwork(
  world: World,
  { capture, assumesIpv4, log }: Detection,
): Promise<PlanNetwork> {
  const network = podNetwork(world.network.interfaces().map(({ address }) => address), capture.dualStack);
  if (network.hostAddress === undefined) {
    if (!assumesIpv4) {
      throw new MeshError(NO_ADDRESS, {
        hint: "Run the command in the pod's network namespace, after the pod has got its address",
      });
    }
    log.warn(`${NO_ADDRESS}, so the rules are for IPv4 only`);
  }
  const needsServers = capture.redirectDns && !capture.captureAllDns;
  return { hasIpv6: network.hasIpv6, dnsServers: needsServers ? await dnsServers(world, log) : [] };
}

/**
 * Returns the pod's first address (IPv4 before IPv6, in the order of the interfaces), and whether to capture IPv6. With
 * `dualStack`, IPv6 is captured if any address is IPv6; otherwise only if the first address is IPv6.
 */
export function podNetwork(texts: readonly string[], dualStack: boolean) {
  const ordered = texts.map(parseAddress).filter((address) => typeof address !== "string").map(unmapped)
    .filter((address) => !isLoopback(address) && !isLinkLocal(address) && !isProxySource(address))
    .toSorted((a, b) => a.family - b.family);
  const candidates = dualStack ? ordered : ordered.slice(0, 1);
  return { hostAddress: ordered[0], hasIpv6: candidates.some(({ family }) => family === 6) };
}

/** Whether the address is `::6`, which an earlier run added to the loopback interface. */
function isProxySource({ family, value }: Address): boolean {
  return family === 6 && value === 6n;
}

const RESOLV_CONF = "/etc/resolv.conf";

async function dnsServers(world: World, log: Logger): Promise<PlanNetwork["dnsServers"]> {
  const text = await world.files.readText(RESOLV_CONF).catch((error) => {
    throw new MeshError(messageOf(error), {
      hint: "The file names the DNS servers to capture: mount it, or use --capture-all-dns",
    });
  });
  const { servers, invalid } = nameservers(text);
  invalid.forEach((server) => log.warn(logText(`"${server}" in ${RESOLV_CONF} is not an IP address`)));
  if (servers.length === 0) {
    log.warn(`${RESOLV_CONF} does not name a DNS server, so DNS is not captured: use --capture-all-dns`);
  }
  // Drops IPv6 zones: iptables cannot match a zone.
  return servers.map(({ address }) => ({ ...address, zone: "" }));
}

/** Enters the network namespace at a path; `""` keeps the current namespace. Throws a `MeshError`. */
export function enterNamespace(world: World, path: string): void {
  if (path === "") return;
  try {
    world.system.enterNetworkNamespace(path);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new MeshError(`Cannot enter the network namespace "${path}": ${error.message}`, {
      hint: "Use a file such as /proc/PID/ns/net or /run/netns/NAME; entering it needs the capability SYS_ADMIN",
    });
  }
}
