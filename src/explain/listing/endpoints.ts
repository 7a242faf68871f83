import { joinHostPort } from "../../golang/net/mod.ts";
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { ENDPOINT_LISTS, messagesIn } from "../envoy/config.ts";
import { addressAt, flagAt } from "../envoy/message.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { byParts } from "./clusters.ts";
import type { Listing, ListingFilter, ListingSource } from "./listing.ts";

const HEADS = ["ENDPOINT", "STATUS", "OUTLIER CHECK", "CLUSTER"];

/** The values of a row: an endpoint of a cluster. */
interface Endpoint {
  readonly address: string;
  readonly port: number;
  readonly status: string;
  readonly outlierCheck: string;
}

/**
 * Lists the endpoints, with a row for each. The source is Envoy's state (`clusters.json`), sorted by address, or else
 * istiod's assignment, sorted by cluster. The JSON contains the clusters that have a listed endpoint.
 */
export function endpoints({ config, snapshot, filter }: ListingSource): Listing {
  const state = jsonOf(snapshot.parts["clusters.json"], "clusters.json").value;
  if (state !== undefined) {
    const found = chosen(mapsAt(state, "cluster_statuses"), filter, { key: "name", read: stateOf });
    return listing(found.map(({ message }) => message), rowsOf(found).toSorted(byEndpoint));
  }
  const assigned = messagesIn(config.section("EndpointsConfigDump"), ENDPOINT_LISTS, "endpoint_config");
  const found = chosen(assigned, filter, { key: "cluster_name", read: assignedOf })
    .toSorted((a, b) => byParts(a.name, b.name));
  return listing(found.map(({ message }) => message), rowsOf(found));
}

interface Row extends Endpoint {
  readonly cluster: string;
}

function listing(messages: ValueMap[], rows: readonly Row[]): Listing {
  const texts = rows.map(({ address, port, status, outlierCheck, cluster }) => [
    port === 0 ? address : joinHostPort(address, String(port)),
    status,
    outlierCheck,
    cluster,
  ]);
  return { rows: [HEADS, ...texts], messages };
}

interface Chosen {
  readonly message: ValueMap;
  readonly name: string;
  readonly endpoints: readonly Endpoint[];
}

function chosen(
  messages: readonly ValueMap[],
  { name, port, fqdn }: ListingFilter,
  { key, read }: { readonly key: string; readonly read: (message: ValueMap) => readonly Endpoint[] },
): Chosen[] {
  return messages.flatMap((message) => {
    const cluster = textAt(message, key);
    if (name !== undefined && cluster !== name || fqdn !== undefined && !cluster.includes(fqdn)) return [];
    const endpoints = read(message).filter((each) => port === undefined || each.port === port);
    return endpoints.length === 0 ? [] : [{ message, name: cluster, endpoints }];
  });
}

function rowsOf(found: readonly Chosen[]): Row[] {
  return found.flatMap(({ name, endpoints }) => endpoints.map((each) => ({ ...each, cluster: name })));
}

function byEndpoint(a: Row, b: Row): number {
  const order = (left: string, right: string) => left < right ? -1 : left > right ? 1 : 0;
  return order(a.address, b.address) || a.port - b.port || order(a.cluster, b.cluster);
}

function stateOf(status: ValueMap): Endpoint[] {
  return mapsAt(status, "host_statuses").map((host) => {
    const health = mapAt(host, "health_status");
    return {
      ...placeOf(host),
      status: textAt(health, "eds_health_status") || "UNKNOWN",
      outlierCheck: flagAt(health, "failed_outlier_check") ? "FAILED" : "OK",
    };
  });
}

/** Returns the endpoints of an assignment. Only Envoy knows which endpoints are outliers. */
function assignedOf(assignment: ValueMap): Endpoint[] {
  return mapsAt(assignment, "endpoints").flatMap((group) => mapsAt(group, "lb_endpoints")).map((each) => ({
    ...placeOf(mapAt(each, "endpoint")),
    status: textAt(each, "health_status") || "UNKNOWN",
    outlierCheck: "-",
  }));
}

function placeOf(holder: ValueMap): Pick<Endpoint, "address" | "port"> {
  const pipe = textAt(mapAt(mapAt(holder, "address"), "pipe"), "path");
  if (pipe !== "") return { address: `unix://${pipe}`, port: 0 };
  return addressAt(holder, "address") ?? { address: "unknown", port: 0 };
}
