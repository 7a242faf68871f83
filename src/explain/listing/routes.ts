import type { ValueMap } from "../../base/value.ts";
import { messagesIn } from "../envoy/config.ts";
import { readRouteConfig, type Route, type VirtualHost } from "../envoy/route_config.ts";
import { type Entry, type Listing, listingOf, type ListingSource, managedBy, pathText } from "./listing.ts";

const HEADS = ["NAME", "VHOST NAME", "DOMAINS", "MATCH", "VIRTUAL SERVICE"];
const LISTS = ["dynamic_route_configs", "static_route_configs"];

/** Lists the routes, with a row for each. Route configurations named after a port are first, sorted by port. */
export function routes({ config, filter }: ListingSource): Listing {
  const entries = messagesIn(config.section("RoutesConfigDump"), LISTS, "route_config").map(entryOf);
  return listingOf(HEADS, entries.toSorted((a, b) => numberOf(a.name) - numberOf(b.name)), filter);
}

function numberOf(name: string): number {
  return /^\d+$/.test(name) ? Number(name) : Number.MAX_SAFE_INTEGER;
}

function entryOf(message: ValueMap): Entry {
  const { name, virtualHosts } = readRouteConfig(message);
  const rows = virtualHosts.flatMap((host) => rowsOf(host).map((row) => [name, host.name, domainsText(host), ...row]));
  return { message, rows, name };
}

function rowsOf({ routes }: VirtualHost): readonly (readonly string[])[] {
  if (routes.length === 0) return [["/*", "404"]];
  return routes.filter((route) => !isPassthrough(route)).map(({ match, origin }) => [
    pathText(match.path),
    managedBy(origin),
  ]);
}

/** Whether this is istiod's route for unknown hosts. */
function isPassthrough({ action }: Route): boolean {
  return action.kind === "forward" && action.clusters.length === 1 && action.clusters[0]?.name === "PassthroughCluster";
}

const MAX_DOMAINS = 2;

/** Returns the domains in their shortest form, without ports, such as `catalog, catalog.shop + 1 more...`. */
function domainsText({ domains }: VirtualHost): string {
  if (domains.length === 1) return domains[0] ?? "";
  const bare = domains.filter((domain) => !domain.includes(":") || /^\[.*\]$/.test(domain));
  const isLong = (domain: string) =>
    [".svc.cluster.local", ".svc"].some((end) => domain.endsWith(end) && bare.includes(domain.slice(0, -end.length)));
  const short = bare.filter((domain) => !isLong(domain));
  const shown = short.slice(0, MAX_DOMAINS).join(", ");
  return short.length > MAX_DOMAINS ? `${shown} + ${short.length - MAX_DOMAINS} more...` : shown;
}
