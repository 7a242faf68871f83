/** The stations after the filter chain, outbound and inbound: authorization, routes, clusters. */
import type { Answer, PlainStation } from "../answer_schema.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { FilterChain, Listener } from "../envoy/listener.ts";
import type { WeightedCluster } from "../envoy/network_filter.ts";
import type { Access } from "../rules/rbac_match.ts";
import { headerText, type Request } from "../rules/request.ts";
import { lower } from "../rules/string_match.ts";
import { authorizationStep, rulesOf, tokenOf, unknownFilters } from "./authorization_step.ts";
import type { Incoming } from "./chain_step.ts";
import type { Facts } from "./facts.ts";
import type { Original } from "./listener_step.ts";
import { type Routed, routeSteps, type Target } from "./route_step.ts";
import { addTargets } from "./targets.ts";
import { type ConnectionPath, unknowing } from "./connection_path.ts";

/** The listener that handles a connection, and the original destination of the connection. */
export interface Inside {
  readonly facts: Facts;
  readonly config: EnvoyConfig;
  readonly listener: Listener;
  readonly original: Original;
}

export interface Chained {
  readonly chain: FilterChain;
  readonly incoming: Incoming;
  /** The request, if the chain reads HTTP. */
  readonly request: Request;
  readonly identity: Access["identity"];
  readonly direction: Answer["direction"];
}

/** Adds the stations after a filter chain. */
export function throughChain(path: ConnectionPath, { facts, config, original }: Inside, chained: Chained): void {
  const { chain, incoming, direction } = chained;
  const http = chain.filters.find((filter) => filter.kind === "http");
  const request = http === undefined ? undefined : chained.request;
  const routed = http === undefined ? undefined : routeSteps(config, http.http, chained.request, facts.workload);
  if (!isAuthorized(path, chained, { original, request, routed, facts })) return;
  const [unsure] = routed === undefined ? [] : addRoutes(path, routed);
  const targets = routed?.targets ?? tcpTargets(chain, incoming);
  if (targets === undefined) {
    path.add(unknowing("cluster", { message: `the chain's filters ${filterNames(chain)} choose the destination` }));
    return;
  }
  const header = (name: string) => request === undefined ? undefined : headerText(request, name);
  const isRefused = addTargets(path, { facts, config, targets }, { original, header, direction });
  if (unsure !== undefined && isRefused) path.doubt(unsure);
}

/**
 * Adds the stations of the routes. If one route certainly matches, and no route ends the connection, returns the
 * stations of the routes for which a match is unknown; otherwise returns an empty list.
 */
function addRoutes(path: ConnectionPath, { steps, isCovered }: Routed): readonly PlainStation[] {
  const isPlain = isCovered && steps.every(({ end }) => end === undefined);
  const unsure = steps.map(({ station }) => station).filter(({ result }) => isPlain && result === "unknown");
  for (const step of steps) unsure.includes(step.station) ? path.show(step.station) : path.add(step);
  return unsure;
}

interface Authorizing {
  readonly original: Original;
  readonly request: Request | undefined;
  readonly routed: Routed | undefined;
  readonly facts: Facts;
}

/** Adds the authorization station. Returns `false` if the rules certainly refuse the connection. */
function isAuthorized(
  path: ConnectionPath,
  { chain, incoming, identity }: Chained,
  { original, request, routed, facts }: Authorizing,
): boolean {
  const token = tokenOf(chain, request, facts.snapshot.time?.getTime());
  const access: Access = {
    request,
    destination: original.address,
    port: original.port,
    source: incoming.source,
    identity,
    serverName: lower(incoming.sni),
    hasNoToken: token === undefined || token.outcome === "none",
  };
  const step = authorizationStep(rulesOf(chain, routed?.overrides ?? []), access, {
    unknown: unknownFilters(chain),
    token,
    workload: facts.workload,
  });
  return step === undefined || path.add(step) || step.end?.verdict !== "refused";
}

/** Returns the clusters of a TCP connection; `undefined` if no known filter names a cluster. */
function tcpTargets({ filters, origin }: FilterChain, { sni }: Incoming): Target[] | undefined {
  const tcp = filters.find((filter) => filter.kind === "tcp");
  if (tcp === undefined) return undefined;
  const byName = filters.some(({ kind }) => kind === "sni-cluster") && sni !== "";
  return byName ? [{ cluster: sni, share: 1, origin }] : sharesOf(tcp.clusters, origin);
}

function sharesOf(clusters: readonly WeightedCluster[], origin: string): Target[] {
  const total = clusters.reduce((sum, { weight }) => sum + weight, 0);
  return clusters.filter(({ weight }) => weight > 0).map(({ name, weight }) => ({
    cluster: name,
    share: weight / total,
    origin,
  }));
}

function filterNames({ filters }: FilterChain): string {
  return filters.map((filter) => filter.kind === "other" ? filter.name : filter.kind).join(", ");
}
