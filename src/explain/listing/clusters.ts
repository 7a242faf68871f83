import { textAt, type ValueMap } from "../../base/value.ts";
import { CLUSTER_LISTS, messagesIn } from "../envoy/config.ts";
import { istioOrigin } from "../envoy/route_config.ts";
import { clusterParts } from "../names/services.ts";
import { type Entry, type Listing, listingOf, type ListingSource, managedBy } from "./listing.ts";

const HEADS = ["SERVICE FQDN", "PORT", "SUBSET", "DIRECTION", "TYPE", "DESTINATION RULE"];

/** Lists the clusters, one row each, sorted by host, subset, port and direction. */
export function clusters({ config, filter }: ListingSource): Listing {
  const entries = messagesIn(config.section("ClustersConfigDump"), CLUSTER_LISTS, "cluster").map(entryOf);
  return listingOf(HEADS, entries.toSorted((a, b) => byParts(a.name, b.name)), filter);
}

/** Whether istiod named the cluster after a service, such as `outbound|80||web.shop.svc.cluster.local`. */
function isOfService(name: string): boolean {
  return name.split("|").length > 3;
}

/** Compares cluster names, to sort by host, subset, port and direction. */
export function byParts(a: string, b: string): number {
  const [first, second] = [keyOf(a), keyOf(b)];
  const at = first.findIndex((part, index) => part !== second[index]);
  const [left = "", right = ""] = [first[at], second[at]];
  return at < 0 ? 0 : left < right ? -1 : 1;
}

function keyOf(name: string): readonly (string | number)[] {
  if (!isOfService(name)) return [name, "", 0, ""];
  const { direction, port, subset, host } = clusterParts(name);
  return [host, subset, Number(port), direction];
}

function entryOf(message: ValueMap): Entry {
  const name = textAt(message, "name");
  const [type, rule] = [textAt(message, "type") || "STATIC", managedBy(istioOrigin(message))];
  if (!isOfService(name)) return { message, name, rows: [[name, "-", "-", "-", type, rule]] };
  const { direction, port, subset, host } = clusterParts(name);
  return { message, name, port: Number(port), rows: [[host, port, subset || "-", direction, type, rule]] };
}
