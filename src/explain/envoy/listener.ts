/** Reads listeners and their filter chains (envoy/config/listener/v3). */
import { isMap, listAt, mapAt, mapsAt, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import type { Cidr } from "../../golang/net/mod.ts";
import { addressAt, anyAt, cidrsAt, flagAt, hasMessage, numberAt, readAt, type SocketAddress } from "./message.ts";
import { type NetworkFilter, readNetworkFilter } from "./network_filter.ts";
import { istioOrigin } from "./route_config.ts";
import { type TransportSocket, transportSocketAt } from "./tls.ts";

export interface Listener {
  readonly name: string;
  /** The main address, then the additional addresses of a dual-stack listener. */
  readonly addresses: readonly SocketAddress[];
  readonly bindsToPort: boolean;
  /** Whether this listener hands connections over to the listener for the original destination (`use_original_dst`). */
  readonly handsOver: boolean;
  readonly listenerFilters: readonly ListenerFilter[];
  readonly chains: readonly FilterChain[];
  readonly defaultChain: FilterChain | undefined;
  /** Whether a matcher tree selects the chain, instead of each chain's match. */
  readonly hasMatcherTree: boolean;
}

/** A listener filter, and the destination ports for which it is disabled. */
export interface ListenerFilter {
  readonly kind: "tls-inspector" | "http-inspector" | "other";
  readonly disabled: PortPredicate;
}

/** A `ListenerFilterChainMatchPredicate`: a condition on the destination port. */
export type PortPredicate =
  | { readonly kind: "never" | "always" }
  | { readonly kind: "range"; readonly start: number; readonly end: number }
  | { readonly kind: "any" | "all"; readonly of: readonly PortPredicate[] }
  | { readonly kind: "not"; readonly of: PortPredicate };

export interface FilterChain {
  readonly name: string;
  readonly match: FilterChainMatch;
  readonly filters: readonly NetworkFilter[];
  readonly transport: TransportSocket;
  /** The resource that configures the chain, such as `Sidecar shop/web`; empty if unknown. */
  readonly origin: string;
}

/** The conditions of a chain. An empty list or text matches any connection. */
export interface FilterChainMatch {
  /** Destination port; 0 matches any port. */
  readonly port: number;
  readonly destinations: readonly Cidr[];
  /** TLS server names in lower case; `*.example.com` is a wildcard. */
  readonly serverNames: readonly string[];
  /** `tls` or `raw_buffer`; empty matches both. */
  readonly transportProtocol: string;
  readonly applicationProtocols: readonly string[];
  readonly directSources: readonly Cidr[];
  readonly sourceType: "any" | "local" | "external";
  readonly sources: readonly Cidr[];
  readonly sourcePorts: readonly Value[];
}

/** Returns the filter chains. The default chain is last. */
export function chainsOf({ chains, defaultChain }: Listener): readonly FilterChain[] {
  return defaultChain === undefined ? chains : [...chains, defaultChain];
}

export function readListener(listener: ValueMap): Listener {
  const main = addressAt(listener, "address");
  const more = mapsAt(listener, "additional_addresses").flatMap((each) => addressAt(each, "address") ?? []);
  return {
    name: textAt(listener, "name"),
    addresses: main === undefined ? more : [main, ...more],
    bindsToPort: listener["bind_to_port"] !== false && mapAt(listener, "deprecated_v1")["bind_to_port"] !== false,
    handsOver: flagAt(listener, "use_original_dst") || flagAt(listener, "hidden_envoy_deprecated_use_original_dst"),
    listenerFilters: mapsAt(listener, "listener_filters").map(readListenerFilter),
    chains: mapsAt(listener, "filter_chains").map(readFilterChain),
    defaultChain: readAt(listener, "default_filter_chain", readFilterChain),
    hasMatcherTree: hasMessage(listener, "filter_chain_matcher"),
  };
}

const FILTER_KINDS: Readonly<Record<string, ListenerFilter["kind"]>> = {
  TlsInspector: "tls-inspector",
  HttpInspector: "http-inspector",
  "envoy.filters.listener.tls_inspector": "tls-inspector",
  "envoy.listener.tls_inspector": "tls-inspector",
  "envoy.filters.listener.http_inspector": "http-inspector",
  "envoy.listener.http_inspector": "http-inspector",
};

/** Reads a listener filter. Old filters have no typed configuration, so the name identifies them. */
function readListenerFilter(filter: ValueMap): ListenerFilter {
  const kind = FILTER_KINDS[anyAt(filter, "typed_config").type] ?? FILTER_KINDS[textAt(filter, "name")] ?? "other";
  return { kind, disabled: readAt(filter, "filter_disabled", (map) => readPredicate(map, 0)) ?? { kind: "never" } };
}

/** Maximum depth of nested predicates. Istio uses two levels. */
const MAX_LEVELS = 16;

function readPredicate(map: ValueMap, level: number): PortPredicate {
  if (level > MAX_LEVELS) return { kind: "never" };
  const inner = (value: ValueMap) => readPredicate(value, level + 1);
  const { not_match: not, destination_port_range: range } = map;
  if (hasMessage(map, "or_match")) return { kind: "any", of: mapsAt(mapAt(map, "or_match"), "rules").map(inner) };
  if (hasMessage(map, "and_match")) return { kind: "all", of: mapsAt(mapAt(map, "and_match"), "rules").map(inner) };
  if (isMap(not)) return { kind: "not", of: inner(not) };
  if (isMap(range)) return { kind: "range", start: numberAt(range, "start") ?? 0, end: numberAt(range, "end") ?? 0 };
  return { kind: flagAt(map, "any_match") ? "always" : "never" };
}

function readFilterChain(chain: ValueMap): FilterChain {
  return {
    name: textAt(chain, "name"),
    match: readMatch(mapAt(chain, "filter_chain_match")),
    filters: mapsAt(chain, "filters").map(readNetworkFilter),
    transport: transportSocketAt(chain, "transport_socket"),
    origin: istioOrigin(chain),
  };
}

const SOURCE_TYPES: Readonly<Record<string, FilterChainMatch["sourceType"]>> = {
  SAME_IP_OR_LOOPBACK: "local",
  LOCAL: "local",
  EXTERNAL: "external",
};

function readMatch(match: ValueMap): FilterChainMatch {
  return {
    port: numberAt(match, "destination_port") ?? 0,
    destinations: cidrsAt(match, "prefix_ranges"),
    serverNames: textsAt(match, "server_names").map((name) => name.toLowerCase()),
    transportProtocol: textAt(match, "transport_protocol"),
    applicationProtocols: textsAt(match, "application_protocols"),
    directSources: cidrsAt(match, "direct_source_prefix_ranges"),
    sourceType: SOURCE_TYPES[textAt(match, "source_type")] ?? "any",
    sources: cidrsAt(match, "source_prefix_ranges"),
    sourcePorts: listAt(match, "source_ports"),
  };
}
