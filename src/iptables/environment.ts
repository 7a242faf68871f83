/** What a run finds around it: users and groups, and the pod's network as far as the rules depend on it. */
import { type Logger, logText } from "../core/log.ts";
import { MeshError, messageOf } from "../core/errors.ts";
import type { World } from "../core/world/world.ts";
import { podNetwork } from "./detect/pod_network.ts";
import { nameservers } from "./detect/resolv_conf.ts";
import type { OwnerNames } from "./kernel/xtables/rule_options.ts";
import type { PlanNetwork } from "./plan/plan.ts";
import { parseNames } from "./settings/names.ts";
import type { CaptureSettings } from "./settings/settings.ts";

/** Users and groups by name; a file that is not there has none. */
export async function ownerNames(world: World): Promise<OwnerNames> {
  const [users, groups] = await Promise.all([namesIn(world, "/etc/passwd"), namesIn(world, "/etc/group")]);
  return { users, groups };
}

async function namesIn(world: World, path: string) {
  try {
    return parseNames(await world.files.readText(path));
  } catch (error) {
    // It is there nearly always: to look first would cost every run.
    if ((await world.files.facts(path)) !== undefined) throw error;
    return parseNames("");
  }
}

/** The pod's network. Throws `MeshError` if it has no address, or if its DNS servers are wanted and cannot be read. */
export async function detectNetwork(world: World, capture: CaptureSettings, log: Logger): Promise<PlanNetwork> {
  const network = podNetwork(world.network.interfaces().map(({ address }) => address), capture.dualStack);
  if (network.hostAddress === undefined) {
    throw new MeshError("This network namespace has no address but those of the loopback interface or of a link", {
      hint: "Run it where the pod's network is, after the pod has its address",
    });
  }
  const needsServers = capture.redirectDns && !capture.captureAllDns;
  return { hasIpv6: network.hasIpv6, dnsServers: needsServers ? await dnsServers(world, log) : [] };
}

const RESOLV_CONF = "/etc/resolv.conf";

async function dnsServers(world: World, log: Logger): Promise<PlanNetwork["dnsServers"]> {
  const text = await world.files.readText(RESOLV_CONF).catch((error) => {
    throw new MeshError(messageOf(error), {
      hint: "The DNS servers to capture stand there: mount it, or use --capture-all-dns",
    });
  });
  const { servers, unreadable } = nameservers(text);
  unreadable.forEach((word) => log.warn(logText(`"${word}" in ${RESOLV_CONF} is no IP address`)));
  if (servers.length === 0) {
    log.warn(`${RESOLV_CONF} names no DNS server, so that DNS is not captured: use --capture-all-dns`);
  }
  return servers;
}
