import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { activeListeners } from "../envoy/config.ts";
import { type FilterChain, type Listener, readListener } from "../envoy/listener.ts";
import { numberAt } from "../envoy/message.ts";
import type { NetworkFilter } from "../envoy/network_filter.ts";
import type { RouteConfig } from "../envoy/route_config.ts";
import { type Entry, type Listing, listingOf, type ListingSource, pathText } from "./listing.ts";

const HEADS = ["ADDRESSES", "PORT", "MATCH", "DESTINATION"];

/** Lists the listeners, one row for each filter chain, sorted by port and address. */
export function listeners({ config, filter }: ListingSource): Listing {
  const section = config.section("ListenersConfigDump");
  const entries = activeListeners(section).map(entryOf)
    .toSorted((a, b) => a.port - b.port || (a.address < b.address ? -1 : a.address > b.address ? 1 : 0));
  return listingOf(HEADS, entries, filter);
}

function entryOf(message: ValueMap): Entry & { readonly port: number; readonly address: string } {
  const listener = readListener(message);
  const [main] = listener.addresses;
  const [address, port] = [main?.address ?? "", main?.port ?? 0];
  const addresses = listener.addresses.map((each) => each.address).join(",");
  const rows = chainsOf(message, listener).map(({ match, chain }) => [match, destinationOf(chain)] as const)
    .toSorted(([, a], [, b]) => a > b ? -1 : a < b ? 1 : 0)
    .map(([match, destination]) => [addresses, String(port), match, destination]);
  return { message, rows, name: listener.name, port, address };
}

/** Returns the chains with their conditions as text. The default chain is last. */
function chainsOf(message: ValueMap, { chains, defaultChain }: Listener) {
  const raw = mapsAt(message, "filter_chains");
  const all = chains.map((chain, at) => ({ chain, match: matchText(mapAt(raw[at] ?? {}, "filter_chain_match")) }));
  return defaultChain === undefined ? all : [...all, { chain: defaultChain, match: matchText({}) }];
}

/** ALPN protocol lists that istiod writes, with the text that `istioctl proxy-config` shows for each. */
const PROTOCOLS: Readonly<Record<string, string>> = {
  "http/1.0,http/1.1,h2c,istio-http/1.0,istio-http/1.1,istio-h2": "App: HTTP TLS",
  "istio,istio-http/1.0,istio-http/1.1,istio-h2": "App: Istio HTTP Plain",
  "istio-peer-exchange,istio": "App: TCP TLS",
  "http/1.0,http/1.1,h2c": "App: HTTP",
};

function matchText(match: ValueMap): string {
  const texts = (key: string) => Array.isArray(match[key]) ? match[key].join(",") : "";
  const [names, protocols] = [texts("server_names"), texts("application_protocols")];
  const transport = textAt(match, "transport_protocol");
  const port = numberAt(match, "destination_port");
  const ranges = mapsAt(match, "prefix_ranges").map((range) =>
    `${textAt(range, "address_prefix")}/${numberAt(range, "prefix_len") ?? 0}`
  );
  const parts = [
    names === "" ? "" : `SNI: ${names}`,
    transport === "" ? "" : `Trans: ${transport}`,
    protocols === "" ? "" : PROTOCOLS[protocols] ?? `App: ${protocols}`,
    ranges.length === 0 && port === undefined
      ? ""
      : `Addr: ${ranges.join(",") || "*"}${port === undefined ? "" : `:${port}`}`,
  ];
  return parts.filter((part) => part !== "").join("; ") || "ALL";
}

function destinationOf({ filters }: FilterChain): string {
  for (const filter of filters) {
    const text = filterText(filter);
    if (text !== undefined) return text;
  }
  return "Non-HTTP/Non-TCP";
}

/** Returns the destination of a filter as text; `undefined` if the destination depends on a later filter. */
function filterText(filter: NetworkFilter): string | undefined {
  if (filter.kind === "http") {
    const { routes } = filter.http;
    return routes.kind === "inline" ? inlineText(routes.config) : `Route: ${routes.name}`;
  }
  if (filter.kind !== "tcp") return undefined;
  const names = filter.clusters.map(({ name }) => name);
  return names.includes("BlackHoleCluster") ? undefined : clusterText(names.join(","));
}

/** Returns a cluster name as `istioctl proxy-config` shows it. Names such as `PassthroughCluster` have no prefix. */
function clusterText(name: string): string {
  return name.includes("Cluster") ? name : `Cluster: ${name}`;
}

function inlineText({ virtualHosts }: RouteConfig): string {
  const [host, ...others] = virtualHosts;
  const [route, ...more] = host?.routes ?? [];
  const isWhole = others.length === 0 && more.length === 0 && host?.domains.join() === "*" &&
    route?.match.path.kind === "prefix" && route.match.path.text === "/";
  const action = route?.action;
  if (isWhole && action?.kind === "forward" && action.clusters.length === 1) {
    return clusterText(action.clusters[0]?.name ?? "");
  }
  const hosts = virtualHosts.map(({ domains, routes }) => {
    const paths = routes.map(({ match }) => pathText(match.path)).join(", ");
    return domains.join() === "*" ? paths : `${domains.join("/")} ${paths}`;
  });
  return `Inline Route: ${hosts.join("; ")}`;
}
