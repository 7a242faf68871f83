/** Finds the virtual host for a request (RouteMatcher::findVirtualHost). */
import type { RouteConfig, VirtualHost } from "../envoy/route_config.ts";
import { lower } from "./string_match.ts";

/** A virtual host, and the domain that matched. */
export interface HostChoice {
  readonly host: VirtualHost;
  readonly domain: string;
  readonly by: "exact" | "suffix" | "prefix" | "any";
}

/**
 * Returns the virtual host. Order: exact domains, the longest `*.example.com`, the longest `example.*`, and `*`. A
 * wildcard matches at least one character.
 */
export function virtualHostFor(
  { virtualHosts, ignoresPort }: Pick<RouteConfig, "virtualHosts" | "ignoresPort">,
  authority: string,
): HostChoice | undefined {
  const name = lower(ignoresPort ? withoutPort(authority) : authority);
  let best: HostChoice | undefined;
  for (const host of virtualHosts) {
    for (const written of host.domains) {
      const domain = lower(written);
      const by = matchKind(domain, name);
      if (by === undefined) continue;
      const choice: HostChoice = { host, domain: written, by };
      if (best === undefined || rank(choice) > rank(best)) best = choice;
    }
    if (best?.by === "exact") return best;
  }
  return best;
}

function matchKind(domain: string, name: string): HostChoice["by"] | undefined {
  if (domain === "*") return "any";
  if (domain.startsWith("*")) {
    return name.length >= domain.length && name.endsWith(domain.slice(1)) ? "suffix" : undefined;
  }
  if (domain.endsWith("*")) {
    return name.length >= domain.length && name.startsWith(domain.slice(0, -1)) ? "prefix" : undefined;
  }
  return domain === name ? "exact" : undefined;
}

const KIND_RANK: Readonly<Record<HostChoice["by"], number>> = { exact: 3, suffix: 2, prefix: 1, any: 0 };

/**
 * Weight of the match kind in the rank. It exceeds the length of any host name (255), so the kind decides before the
 * length.
 */
const LENGTHS = 1024;

function rank({ by, domain }: HostChoice): number {
  return KIND_RANK[by] * LENGTHS + Math.min(domain.length, LENGTHS - 1);
}

/** Removes the port, as `HeaderUtility::stripPortFromHost` does. Keeps the brackets around an IPv6 address. */
export function withoutPort(authority: string): string {
  const colon = authority.lastIndexOf(":");
  if (colon < 0 || !/^\d*$/.test(authority.slice(colon + 1))) return authority;
  const isPlainIpv6 = authority.indexOf(":") !== colon && !authority.includes("]");
  return isPlainIpv6 || authority.endsWith("]") ? authority : authority.slice(0, colon);
}
