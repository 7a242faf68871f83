/** Reads network filters that choose the destination of a connection (envoy/extensions/filters/network). */
import { isMap, mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { anyAt, flagAt, hasMessage, numberAt } from "./message.ts";
import { type Rbac, readRbacRules } from "./rbac.ts";
import { readTokenRules, type TokenRules } from "./token_rules.ts";
import { readRouteConfig, type RouteConfig } from "./route_config.ts";

export type NetworkFilter =
  | { readonly kind: "http"; readonly http: HttpManager }
  /** A `TcpProxy`: forwards to one cluster, or to several with weights. */
  | { readonly kind: "tcp"; readonly clusters: readonly WeightedCluster[] }
  | { readonly kind: "rbac"; readonly rbac: Rbac }
  /** Uses the TLS server name as the cluster name. */
  | { readonly kind: "sni-cluster" }
  /** A filter of another type, which can handle the connection or only observe it. */
  | { readonly kind: "other"; readonly name: string; readonly type: string };

export interface WeightedCluster {
  readonly name: string;
  readonly weight: number;
}

/** An `HttpConnectionManager`: reads HTTP and applies routes. */
export interface HttpManager {
  readonly routes: RouteSource;
  readonly filters: readonly HttpFilter[];
  readonly normalizesPath: boolean;
  readonly mergesSlashes: boolean;
  /** Whether to strip the port from the Host header before the route search. */
  readonly stripsPort: boolean;
  readonly stripsTrailingDot: boolean;
}

type RouteSource =
  | { readonly kind: "inline"; readonly config: RouteConfig }
  | { readonly kind: "rds"; readonly name: string }
  | { readonly kind: "scoped"; readonly name: string };

type HttpFilter =
  | { readonly kind: "fault"; readonly name: string; readonly config: ValueMap }
  | { readonly kind: "rbac"; readonly rbac: Rbac }
  | { readonly kind: "tokens"; readonly name: string; readonly tokens: TokenRules }
  | { readonly kind: "other"; readonly name: string; readonly type: string };

/** Reads a `Filter` of a chain. The type of the configuration shows which filter it is. */
export function readNetworkFilter(filter: ValueMap): NetworkFilter {
  const name = textAt(filter, "name");
  const { type, value } = anyAt(filter, "typed_config");
  switch (type) {
    case "HttpConnectionManager":
      return { kind: "http", http: readHttpManager(value) };
    case "TcpProxy":
      return { kind: "tcp", clusters: clustersOf(value) };
    case "RBAC":
      return { kind: "rbac", rbac: readRbacRules(value, name) };
    case "SniCluster":
      return { kind: "sni-cluster" };
    default:
      return { kind: "other", name, type };
  }
}

function clustersOf(proxy: ValueMap): WeightedCluster[] {
  const cluster = textAt(proxy, "cluster");
  if (cluster !== "") return [{ name: cluster, weight: 1 }];
  return mapsAt(mapAt(proxy, "weighted_clusters"), "clusters").map((each) => ({
    name: textAt(each, "name"),
    weight: numberAt(each, "weight") ?? 0,
  }));
}

function readHttpManager(manager: ValueMap): HttpManager {
  return {
    routes: readRouteSource(manager),
    filters: mapsAt(manager, "http_filters").map(readHttpFilter),
    normalizesPath: flagAt(manager, "normalize_path"),
    mergesSlashes: flagAt(manager, "merge_slashes"),
    stripsPort: flagAt(manager, "strip_any_host_port") || flagAt(manager, "strip_matching_host_port"),
    stripsTrailingDot: flagAt(manager, "strip_trailing_host_dot"),
  };
}

function readRouteSource(manager: ValueMap): RouteSource {
  const inline = manager["route_config"];
  if (isMap(inline)) return { kind: "inline", config: readRouteConfig(inline) };
  if (hasMessage(manager, "scoped_routes")) {
    return { kind: "scoped", name: textAt(mapAt(manager, "scoped_routes"), "name") };
  }
  return { kind: "rds", name: textAt(mapAt(manager, "rds"), "route_config_name") };
}

function readHttpFilter(filter: ValueMap): HttpFilter {
  const name = textAt(filter, "name");
  const { type, value } = anyAt(filter, "typed_config");
  if (type === "HTTPFault") return { kind: "fault", name, config: value };
  if (type === "RBAC") return { kind: "rbac", rbac: readRbacRules(value, name) };
  if (type === "JwtAuthentication") return { kind: "tokens", name, tokens: readTokenRules(value) };
  return { kind: "other", name, type };
}
