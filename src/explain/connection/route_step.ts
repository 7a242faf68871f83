/** The route station: virtual host, route, changes to the request, and clusters. */
import type { Detail, Station, StationResult } from "../answer_schema.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { HttpManager, WeightedCluster } from "../envoy/network_filter.ts";
import type { Forwarding, Overrides, RouteAction, RouteCluster, RouteConfig } from "../envoy/route_config.ts";
import { headerText, normalizePath, type Request } from "../rules/request.ts";
import { percent, type RouteChoice, routeMatchText, routesFor } from "../rules/route_search.ts";
import { type HostChoice, virtualHostFor } from "../rules/virtual_host_search.ts";
import { faultOf, type FaultText } from "./fault_text.ts";
import { type Cause, causeIn, causeOf, type Workload } from "../resources/cause.ts";
import {
  clauses,
  detailOf,
  editing,
  ending,
  passing,
  refusing,
  sentence,
  type Step,
  unknowing,
} from "./connection_path.ts";

/** A cluster with its share of the requests, from 0 to 1. */
export interface Target {
  readonly cluster: string;
  readonly share: number;
  /** The resource that configures the route; empty if unknown. */
  readonly origin: string;
}

export interface Routed {
  readonly steps: readonly Step[];
  readonly targets: readonly Target[];
  /** RBAC rules that the routes set. They override the rules of the filters. */
  readonly overrides: readonly Overrides[];
  /** Whether a route certainly takes every request. Routes that may match can come before it. */
  readonly isCovered: boolean;
}

/** Returns the route steps of a request in a connection manager, and the clusters of the routes. */
export function routeSteps(config: EnvoyConfig, http: HttpManager, request: Request, workload: Workload): Routed {
  const found = routeConfigOf(config, http);
  if (!("virtualHosts" in found)) return only(found);
  const asked = { ...request, authority: hostOf(http, request), path: normalizePath(request.path, http) };
  const choice = virtualHostFor(found, asked.authority);
  if (choice === undefined) return only(noHost(found, asked, workload));
  if (choice.host.hasMatcherTree) {
    const message =
      `the virtual host ${choice.host.name} chooses its route with a matcher tree, which is not supported`;
    return only(unknowing("route", { message }));
  }
  if (choice.host.requiresTls && !request.isTls) {
    return only(answered("", `the virtual host ${choice.host.name} redirects requests without TLS: 301`));
  }
  const routes = routesFor(choice.host, found, asked);
  if (routes.length === 0) return only(noRoute(found, choice, asked));
  const each = routes.map((route) => routed({ config: found, host: choice, route, http, request: asked, workload }));
  const left = 1 - routes.reduce((sum, { share }) => sum + share, 0);
  const rest = left > 1e-9 ? [noRoute(found, choice, asked, left)] : [];
  return {
    steps: [...each.flatMap(({ steps }) => steps), ...rest],
    targets: each.flatMap(({ targets }) => targets),
    overrides: each.flatMap(({ overrides }) => overrides),
    isCovered: routes.some(({ route, unknown }) => unknown === "" && route.match.fraction === 1),
  };
}

function only(step: Step): Routed {
  return { steps: [step], targets: [], overrides: [], isCovered: true };
}

/** Returns the Host header, without the port and the trailing dot if the connection manager strips them. */
function hostOf({ stripsPort, stripsTrailingDot }: HttpManager, { authority }: Request): string {
  const withoutPort = stripsPort ? authority.replace(/:\d+$/, "") : authority;
  return stripsTrailingDot ? withoutPort.replace(/\.(?=:\d+$|$)/, "") : withoutPort;
}

function routeConfigOf(config: EnvoyConfig, { routes }: HttpManager): RouteConfig | Step {
  if (routes.kind === "inline") return routes.config;
  if (routes.kind === "scoped") {
    const message = `the listener uses scoped routes (${routes.name}), which are not supported`;
    return unknowing("route", { name: routes.name, message });
  }
  const found = config.route(routes.name);
  if (found !== undefined) return found;
  if (!config.hasSection("RoutesConfigDump")) return unknowing("route", { message: "the dump has no routes" });
  const message = `Envoy has no routes "${routes.name}": it returns 404 NR`;
  return refusing("route", { name: "", message }, "check why the control plane does not send these routes");
}

function noHost(
  { name, virtualHosts, hasOnDemandHosts }: RouteConfig,
  { authority }: Request,
  workload: Workload,
): Step {
  if (hasOnDemandHosts) {
    return unknowing("route", { message: `Envoy loads the virtual host of "${authority}" on demand (VHDS)` });
  }
  const hosts = virtualHosts.length === 1
    ? `the only virtual host of routes "${name}" does not have`
    : `none of the ${virtualHosts.length} virtual hosts of routes "${name}" has`;
  const message = `${hosts} the domain "${authority}": 404 NR`;
  const fix = `create a Service or a ServiceEntry for "${authority}", or add it to the hosts of a VirtualService`;
  return refusing("route", { message }, fix, gatewayCause(name, authority, workload));
}

/** Returns the Gateway behind routes such as `http.80` or `https.443.https.GATEWAY.NAMESPACE`. */
function gatewayCause(routes: string, authority: string, workload: Workload): Cause | undefined {
  const [, port, name = "", namespace = ""] = /^https?\.(\d+)(?:\.[^.]+\.([^.]+)\.([^.]+))?$/.exec(routes) ?? [];
  if (port === undefined) return undefined;
  const host = authority.replace(/:\d+$/, "");
  const cause = causeOf("Gateway", "spec.servers.hosts", { by: "server", workload, port: Number(port), host });
  return { ...cause, namespace, name };
}

function noRoute({ name }: RouteConfig, { host }: HostChoice, { method, path }: Request, share = 1): Step {
  const part = share < 1 ? `for ${percent(share)} of requests ` : "";
  const message = `${part}no route of ${host.name} in routes "${name}" matches ${method} ${path}: 404 NR`;
  const fix = "add a route without conditions to the VirtualService";
  const origin = host.routes.find((each) => each.origin !== "")?.origin ?? "";
  const search = { by: "route", what: "missing", host: host.domains[0] ?? "" } as const;
  const cause = origin === "" ? undefined : causeIn(origin, "VirtualService", "spec.http", search);
  const step = refusing("route", { message, detail: { routes: host.routes.length } }, fix, cause);
  return share < 1 ? { station: { ...step.station, result: "warning" } } : step;
}

function answered(name: string, message: string, detail: Detail = {}, origin = ""): Step {
  const search = { by: "route", what: "answer", host: "" } as const;
  const cause = origin === "" ? undefined : causeIn(origin, "VirtualService", "spec.http", search);
  const fix = origin === "" ? "" : `change the route in ${origin}${editing(origin)}`;
  return ending("route", { name, result: "warning", message, detail }, { verdict: "refused", fix, cause });
}

interface Routing {
  readonly config: RouteConfig;
  readonly host: HostChoice;
  readonly route: RouteChoice;
  readonly http: HttpManager;
  readonly request: Request;
  readonly workload: Workload;
}

function routed(routing: Routing): Routed {
  const { route: { route, share, unknown }, request } = routing;
  const text = `${matchedText(routing)}${share === 1 ? "" : ` (${percent(share)} of requests)`}`;
  const own = { name: route.name, message: text, detail: matchDetail(routing) };
  const { action } = route;
  if (action.kind !== "forward" && action.kind !== "header") return only(unforwarded(action, own, route.origin));
  const clusters = clustersOf(action, request);
  if (clusters.length === 0) {
    const message = `${text}: the request does not have the header that names the cluster: 503`;
    return only(refusing("route", { ...own, message }, `send the header ${"header" in action ? action.header : ""}`));
  }
  const fault = faultOf(routing, clusters, routing.workload);
  const step = passing("route", {
    name: route.name,
    message: clauses(text, ...howText(action.how), fault?.text ?? "", unknown === "" ? "" : `not certain: ${unknown}`),
    result: resultOf(fault, unknown),
    source: unknown === "" ? "seen" : "unknown",
    detail: { ...own.detail, ...howDetail(action.how) },
  });
  const end = fault?.isCertain === true
    ? { verdict: "refused", reason: sentence(fault.text), fix: fault.fix, cause: fault.cause } as const
    : undefined;
  return {
    steps: [{ ...step, end, cause: fault?.cause }],
    targets: targetsOf(clusters, share, route.origin),
    overrides: [route.overrides],
    isCovered: true,
  };
}

/** Splits a share of the requests among clusters by their weights. */
export function targetsOf(clusters: readonly WeightedCluster[], share: number, origin: string): Target[] {
  const total = clusters.reduce((sum, { weight }) => sum + weight, 0);
  if (total === 0) return [];
  return clusters.map(({ name, weight }) => ({ cluster: name, share: share * weight / total, origin }));
}

function resultOf(fault: FaultText | undefined, unknown: string): StationResult {
  if (fault?.isCertain === true) return "error";
  return unknown !== "" ? "unknown" : fault === undefined ? "ok" : "warning";
}

type Own = Pick<Station, "name" | "message" | "detail">;

function unforwarded(
  action: Exclude<RouteAction, { kind: "forward" | "header" }>,
  { name, message, detail }: Own,
  origin: string,
): Step {
  switch (action.kind) {
    case "redirect":
      return answered(name, `${message}: Envoy redirects with ${action.status} to ${action.target}`, detail, origin);
    case "direct":
      return answered(name, `${message}: Envoy itself returns ${action.status}`, detail, origin);
    case "other":
      return unknowing("route", { name, message: `${message}: ${action.what}`, detail });
  }
}

function matchDetail({ config, host, route: { route, place, share } }: Routing): Detail {
  return detailOf({
    virtualHost: host.host.name,
    domain: host.domain,
    domainMatch: host.by,
    routes: config.name,
    place,
    match: routeMatchText(route.match),
    from: route.origin,
    share: share === 1 ? "" : percent(share),
  });
}

function matchedText({ host, route: { route, place } }: Routing): string {
  const own = route.name === "" ? `route ${place}` : `route ${place} "${route.name}"`;
  const name = route.origin === "" ? own : `${own} of ${route.origin}`;
  return `${host.host.name} by ${host.by === "any" ? "*" : `its domain ${host.domain}`}, ${name}: ${
    routeMatchText(route.match)
  }`;
}

/** Returns the clusters of a route. Clusters of weight 0 do not get requests. */
function clustersOf(
  action: Extract<RouteAction, { kind: "forward" | "header" }>,
  request: Request,
): readonly RouteCluster[] {
  if (action.kind === "forward") {
    const weighted = action.clusters.filter(({ weight }) => weight > 0);
    return weighted.length === 0 ? action.clusters : weighted;
  }
  const name = headerText(request, action.header) ?? "";
  return name === "" ? [] : [{ name, weight: 1, overrides: { fault: undefined, rbac: undefined } }];
}

function howText({ prefixRewrite, regexRewrite, hostRewrite, mirrors, timeout, retries }: Forwarding): string[] {
  return [
    prefixRewrite === "" ? "" : `the path becomes ${prefixRewrite}`,
    regexRewrite === "" ? "" : `the path is rewritten to ${regexRewrite}`,
    hostRewrite === "" ? "" : `the host becomes ${hostRewrite}`,
    mirrors.length === 0 ? "" : `copies go to ${mirrors.join(", ")}`,
    timeout === undefined || timeout === 0 ? "" : `the timeout is ${timeout}ms, then 504 UT`,
    retries === undefined || isUsual(retries) ? "" : retryText(retries),
  ];
}

type Retries = NonNullable<Forwarding["retries"]>;

/** Whether these are Istio's default retries for every route (pilot/pkg/networking/core/route/retry). */
function isUsual({ count, on }: Retries): boolean {
  return count === 2 && on.startsWith("connect-failure,refused-stream,unavailable,cancelled");
}

function retryText({ count, on }: Retries): string {
  return count === 0 ? "retries are off" : `failed requests are retried up to ${count} times on ${on}`;
}

function howDetail({ timeout, retries }: Forwarding): Detail {
  return detailOf({
    timeout: timeout === undefined ? "" : timeout === 0 ? "none" : `${timeout}ms`,
    retries: retries?.count,
    retryOn: retries?.on,
  });
}
