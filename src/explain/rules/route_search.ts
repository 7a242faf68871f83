/** Finds the route of a virtual host for a request: the first match (RouteEntryImplBase::matches). */
import { REDACTED } from "../../base/redacted.ts";
import type { PathMatch, Route, RouteConfig, RouteMatch, VirtualHost } from "../envoy/route_config.ts";
import { headerMatchText, matchesHeaders, matchesQueries, queryMatchText } from "./header_match.ts";
import { headerText, pathOnly, type Request } from "./request.ts";
import { lower, matchesRegex } from "./string_match.ts";
import { all, type Truth, truthOf } from "./truth.ts";

export interface RouteChoice {
  readonly route: Route;
  /** Position of the route in the virtual host, from 1. */
  readonly place: number;
  /** Share of the requests that use this route, from 0 to 1. If a condition is unknown, the largest possible share. */
  readonly share: number;
  /** Unknown condition, as a clause; empty if the route certainly matches. */
  readonly unknown: string;
}

/** Returns the routes that can match: several if routes split the requests by share, or if a match is unknown. */
export function routesFor(
  { routes }: Pick<VirtualHost, "routes">,
  config: Pick<RouteConfig, "ignoresPathParameters">,
  request: Request,
): RouteChoice[] {
  const choices: RouteChoice[] = [];
  let left = 1;
  for (const [index, route] of routes.entries()) {
    const truth = matchesRoute(route.match, config, request);
    const { fraction } = route.match;
    if (truth === "no" || fraction === 0) continue;
    const unknown = truth === "unknown" ? unknownText(route.match) : "";
    choices.push({ route, place: index + 1, share: left * fraction, unknown });
    if (truth === "yes") left *= 1 - fraction;
    if (left === 0) break;
  }
  return choices;
}

function unknownText({ unknowable, path }: RouteMatch): string {
  if (unknowable.length > 0) return `only Envoy knows its ${unknowable.join(" and ")}`;
  return path.kind === "other"
    ? `the path matcher ${path.text} is an extension`
    : "one of its matchers is not supported";
}

/** Whether a request meets the conditions of a route, ignoring the percentage of traffic that the route applies to. */
function matchesRoute(
  match: RouteMatch,
  { ignoresPathParameters }: Pick<RouteConfig, "ignoresPathParameters">,
  request: Request,
): Truth {
  const own = pathOnly(request.path);
  const path = ignoresPathParameters ? own.split(";", 1)[0] ?? own : own;
  return all([
    truthOf(!match.grpc || isGrpc(request)),
    certificateMatches(match.clientCertificate, request),
    matchesPath(match, path, request),
    matchesHeaders(match.headers, request),
    matchesQueries(match.queries, request),
    match.unknowable.length > 0 ? "unknown" : "yes",
  ]);
}

/** Whether a request is gRPC, by the rule of `Grpc::Common::isGrpcRequestHeaders`. */
function isGrpc(request: Request): boolean {
  return /^application\/grpc(\+.*)?$/.test(headerText(request, "content-type") ?? "");
}

function certificateMatches(wanted: RouteMatch["clientCertificate"], { hasClientCertificate }: Request): Truth {
  return truthOf(wanted === "any" || (wanted === "required") === hasClientCertificate);
}

function matchesPath({ path, ignoresCase }: RouteMatch, given: string, { method }: Request): Truth {
  switch (path.kind) {
    case "any":
      return "yes";
    case "other":
      return "unknown";
    case "connect":
      return truthOf(method === "CONNECT");
    case "regex":
      return matchesRegex(path.text, given);
    default:
      if (path.text.includes(REDACTED)) return "unknown";
      return truthOf(ignoresCase ? hasPath(path, lower(given), lower(path.text)) : hasPath(path, given, path.text));
  }
}

function hasPath({ kind }: PathMatch, given: string, text: string): boolean {
  if (kind === "exact") return given === text;
  if (!given.startsWith(text)) return false;
  return kind === "prefix" || given.length === text.length || given[text.length] === "/";
}

/** Describes the conditions of a route, such as `path starts with "/api", header end-user is "jason"`. */
export function routeMatchText(match: RouteMatch): string {
  const parts = [
    PATH_TEXT[match.path.kind](match.path.text),
    match.ignoresCase ? "in any case" : "",
    ...match.headers.map(headerMatchText),
    ...match.queries.map(queryMatchText),
    match.grpc ? "gRPC" : "",
    match.clientCertificate === "any" ? "" : `client certificate ${match.clientCertificate}`,
    match.fraction === 1 ? "" : `${percent(match.fraction)} of requests`,
    ...match.unknowable.map((key) => key.replaceAll("_", " ")),
  ];
  return parts.filter((part) => part !== "").join(", ");
}

const PATH_TEXT: Readonly<Record<PathMatch["kind"], (text: string) => string>> = {
  prefix: (text) => `path starts with "${text}"`,
  exact: (text) => `path is "${text}"`,
  "separated-prefix": (text) => `path is "${text}" or below it`,
  regex: (text) => `path matches "${text}"`,
  connect: () => "method CONNECT",
  any: () => "any path",
  other: (text) => `path by ${text}`,
};

/** Formats a share, such as `12.5%`. */
export function percent(share: number): string {
  return `${Number((share * 100).toFixed(4))}%`;
}
