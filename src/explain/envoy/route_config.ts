/** Reads route configurations: virtual hosts and their routes (envoy/config/route/v3). */
import { isMap, mapAt, mapsAt, textAt, textsAt, type ValueMap } from "../../base/value.ts";
import { type Fault, readFault } from "./fault.ts";
import { type HeaderMatch, headerMatchesAt, type QueryMatch, readQueryMatch, regexAt } from "./matchers.ts";
import { anyOf, flagAt, hasMessage, millisecondsAt, numberAt, readAt, readFraction } from "./message.ts";
import { type Rbac, readRbacRules } from "./rbac.ts";

export interface RouteConfig {
  readonly name: string;
  readonly virtualHosts: readonly VirtualHost[];
  /** Whether the search for a virtual host ignores the port in the Host header. */
  readonly ignoresPort: boolean;
  /** Whether the search for a route ignores path parameters (`;...`). */
  readonly ignoresPathParameters: boolean;
  /** Whether Envoy fetches more virtual hosts on demand (VHDS). */
  readonly hasOnDemandHosts: boolean;
}

export interface VirtualHost {
  readonly name: string;
  readonly domains: readonly string[];
  readonly routes: readonly Route[];
  /** Whether Envoy redirects requests without TLS to HTTPS. */
  readonly requiresTls: boolean;
  /** Whether the virtual host has a matcher tree instead of routes. */
  readonly hasMatcherTree: boolean;
  readonly overrides: Overrides;
}

export interface Route {
  readonly name: string;
  readonly match: RouteMatch;
  readonly action: RouteAction;
  readonly overrides: Overrides;
  /** The resource that configures the route, such as `VirtualService shop/reviews`; empty if unknown. */
  readonly origin: string;
}

/** Filter settings that a route, a virtual host or a weighted cluster overrides; `undefined` if not overridden. */
export interface Overrides {
  readonly fault: Fault | undefined;
  readonly rbac: Rbac | undefined;
}

export interface PathMatch {
  readonly kind: "prefix" | "exact" | "separated-prefix" | "regex" | "connect" | "any" | "other";
  /** The path, the pattern, or the name of an extension; empty without a condition on the path. */
  readonly text: string;
}

export interface RouteMatch {
  readonly path: PathMatch;
  readonly ignoresCase: boolean;
  readonly headers: readonly HeaderMatch[];
  readonly queries: readonly QueryMatch[];
  readonly grpc: boolean;
  /** The share of requests that the route matches, from 0 to 1. */
  readonly fraction: number;
  /** Whether the client must present a certificate. */
  readonly clientCertificate: "any" | "required" | "none";
  /** Conditions that only Envoy can evaluate, on metadata or filter state. */
  readonly unknowable: readonly string[];
}

export type RouteAction =
  | { readonly kind: "forward"; readonly clusters: readonly RouteCluster[]; readonly how: Forwarding }
  /** A request header names the cluster. */
  | { readonly kind: "header"; readonly header: string; readonly how: Forwarding }
  | { readonly kind: "redirect"; readonly status: number; readonly target: string }
  | { readonly kind: "direct"; readonly status: number }
  | { readonly kind: "other"; readonly what: string };

export interface RouteCluster {
  readonly name: string;
  readonly weight: number;
  readonly overrides: Overrides;
}

export interface Forwarding {
  readonly prefixRewrite: string;
  readonly regexRewrite: string;
  readonly hostRewrite: string;
  /** Timeout in milliseconds; 0 means no limit. */
  readonly timeout: number | undefined;
  readonly retries: { readonly on: string; readonly count: number } | undefined;
  readonly mirrors: readonly string[];
}

export function readRouteConfig(config: ValueMap): RouteConfig {
  return {
    name: textAt(config, "name"),
    virtualHosts: mapsAt(config, "virtual_hosts").map(readVirtualHost),
    ignoresPort: flagAt(config, "ignore_port_in_host_matching"),
    ignoresPathParameters: flagAt(config, "ignore_path_parameters_in_path_matching"),
    hasOnDemandHosts: hasMessage(config, "vhds"),
  };
}

function readVirtualHost(host: ValueMap): VirtualHost {
  return {
    name: textAt(host, "name"),
    domains: textsAt(host, "domains"),
    routes: mapsAt(host, "routes").map(readRoute),
    requiresTls: ["ALL", "EXTERNAL_ONLY"].includes(textAt(host, "require_tls")),
    hasMatcherTree: hasMessage(host, "matcher"),
    overrides: readOverrides(host),
  };
}

function readRoute(route: ValueMap): Route {
  return {
    name: textAt(route, "name"),
    match: readMatch(mapAt(route, "match")),
    action: readAction(route),
    overrides: readOverrides(route),
    origin: istioOrigin(route),
  };
}

/** Resource kinds by their names in istiod's metadata. */
const KINDS: Readonly<Record<string, string>> = {
  "virtual-service": "VirtualService",
  "destination-rule": "DestinationRule",
  "service-entry": "ServiceEntry",
  "envoy-filter": "EnvoyFilter",
  "http-route": "HTTPRoute",
  "tcp-route": "TCPRoute",
  "tls-route": "TLSRoute",
  "grpc-route": "GRPCRoute",
  gateway: "Gateway",
  sidecar: "Sidecar",
};

/** Returns the resource in the metadata: `VirtualService shop/reviews` for `/apis/.../shop/virtual-service/reviews`. */
export function istioOrigin(message: ValueMap): string {
  const metadata = mapAt(mapAt(mapAt(message, "metadata"), "filter_metadata"), "istio");
  const [, namespace = "", kind = "", name = ""] =
    /\/namespaces\/([^/]+)\/([^/]+)\/([^/]+)$/.exec(textAt(metadata, "config")) ?? [];
  // istiod generates a VirtualService from each rule of an HTTPRoute: `NAME~0~istio-autogenerated-k8s-gateway`.
  const [, route] = /^(.+?)[~-]\d+[~-]istio-autogenerated-k8s-gateway$/.exec(name) ?? [];
  if (route !== undefined) return `HTTPRoute ${namespace}/${route}`;
  return name === "" ? "" : `${KINDS[kind] ?? kind} ${namespace}/${name}`;
}

function readOverrides(message: ValueMap): Overrides {
  const typed = Object.values(mapAt(message, "typed_per_filter_config")).filter(isMap).map(overriding);
  const fault = typed.find(({ type }) => type === "HTTPFault");
  const rbac = typed.find(({ type }) => type === "RBACPerRoute");
  return {
    fault: fault === undefined ? undefined : readFault(fault.value),
    rbac: rbac === undefined ? undefined : readRbacRules(mapAt(rbac.value, "rbac"), "envoy.filters.http.rbac"),
  };
}

/** Returns an override and its type. Unwraps a `FilterConfig`. */
function overriding(value: ValueMap) {
  const message = anyOf(value);
  return message.type === "FilterConfig" ? anyOf(mapAt(message.value, "config")) : message;
}

function readMatch(match: ValueMap): RouteMatch {
  return {
    path: readPath(match),
    ignoresCase: match["case_sensitive"] === false,
    headers: headerMatchesAt(match, "headers"),
    queries: mapsAt(match, "query_parameters").map(readQueryMatch),
    grpc: hasMessage(match, "grpc"),
    fraction: readAt(match, "runtime_fraction", (fraction) => readFraction(mapAt(fraction, "default_value"))) ?? 1,
    clientCertificate: clientCertificate(mapAt(match, "tls_context")),
    unknowable: ["dynamic_metadata", "filter_state", "cookies"].filter((key) => mapsAt(match, key).length > 0),
  };
}

function clientCertificate(context: ValueMap): RouteMatch["clientCertificate"] {
  const { presented } = context;
  return presented === true ? "required" : presented === false ? "none" : "any";
}

function readPath(match: ValueMap): PathMatch {
  if (typeof match["prefix"] === "string") return { kind: "prefix", text: match["prefix"] };
  if (typeof match["path"] === "string") return { kind: "exact", text: match["path"] };
  const separated = textAt(match, "path_separated_prefix");
  if (separated !== "") return { kind: "separated-prefix", text: separated };
  if (hasMessage(match, "safe_regex")) return { kind: "regex", text: regexAt(match, "safe_regex") };
  if (hasMessage(match, "connect_matcher")) return { kind: "connect", text: "" };
  const text = textAt(mapAt(match, "path_match_policy"), "name");
  return { kind: text === "" ? "any" : "other", text };
}

function readAction(route: ValueMap): RouteAction {
  const { route: forward, redirect, direct_response: direct } = route;
  if (isMap(forward)) return readForward(forward);
  if (isMap(redirect)) {
    const status = STATUSES[textAt(redirect, "response_code")] ?? 301;
    return { kind: "redirect", status, target: redirectTarget(redirect) };
  }
  if (isMap(direct)) return { kind: "direct", status: numberAt(direct, "status") ?? 0 };
  const what = hasMessage(route, "non_forwarding_action") ? "it forwards nothing" : "a filter decides";
  return { kind: "other", what };
}

function readForward(action: ValueMap): RouteAction {
  const how = readForwarding(action);
  const header = textAt(action, "cluster_header");
  if (header !== "") return { kind: "header", header: header.toLowerCase(), how };
  const cluster = textAt(action, "cluster");
  if (cluster !== "") {
    return { kind: "forward", clusters: [{ name: cluster, weight: 1, overrides: NO_OVERRIDES }], how };
  }
  const weighted = mapsAt(mapAt(action, "weighted_clusters"), "clusters");
  if (weighted.length === 0) return { kind: "other", what: "a plugin chooses the cluster" };
  const clusters = weighted.map((each) => ({
    name: textAt(each, "name"),
    weight: numberAt(each, "weight") ?? 0,
    overrides: readOverrides(each),
  }));
  return { kind: "forward", clusters, how };
}

const NO_OVERRIDES: Overrides = { fault: undefined, rbac: undefined };

function readForwarding(action: ValueMap): Forwarding {
  const rewrite = mapAt(action, "regex_rewrite");
  return {
    prefixRewrite: textAt(action, "prefix_rewrite"),
    regexRewrite: regexAt(rewrite, "pattern") === "" ? "" : textAt(rewrite, "substitution"),
    hostRewrite: textAt(action, "host_rewrite_literal") || textAt(action, "host_rewrite_header"),
    timeout: millisecondsAt(action, "timeout"),
    retries: readAt(action, "retry_policy", (retry) => ({
      on: textAt(retry, "retry_on"),
      count: numberAt(retry, "num_retries") ?? 1,
    })),
    mirrors: mapsAt(action, "request_mirror_policies").map((mirror) => textAt(mirror, "cluster")).filter(Boolean),
  };
}

const STATUSES: Readonly<Record<string, number>> = {
  MOVED_PERMANENTLY: 301,
  FOUND: 302,
  SEE_OTHER: 303,
  TEMPORARY_REDIRECT: 307,
  PERMANENT_REDIRECT: 308,
};

function redirectTarget(redirect: ValueMap): string {
  const scheme = textAt(redirect, "scheme_redirect") || (flagAt(redirect, "https_redirect") ? "https" : "");
  const host = textAt(redirect, "host_redirect");
  const port = numberAt(redirect, "port_redirect");
  const path = textAt(redirect, "path_redirect") || textAt(redirect, "prefix_rewrite");
  const authority = `${host}${port === undefined ? "" : `:${port}`}`;
  return [scheme === "" ? "" : `${scheme}://`, authority, path].join("");
}
