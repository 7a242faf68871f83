/** The stations after the filter chain, outbound and inbound: authorization, routes, clusters. */
import type { Answer, PlainStation } from "../answer_schema.ts";
import type { FilterChain } from "../envoy/listener.ts";
import type { Access } from "../rules/rbac_match.ts";
import { headerText, type Request } from "../rules/request.ts";
import { percent } from "../rules/route_search.ts";
import { lower } from "../rules/string_match.ts";
import { authorizationStep, rulesOf, tokenOf, unknownFilters } from "./authorization_step.ts";
import type { Incoming } from "./chain_step.ts";
import { clusterSteps } from "./cluster_step.ts";
import type { Asked } from "./endpoints.ts";
import type { Inside } from "./listener_step.ts";
import { type Routed, routeSteps, type Target, targetsOf } from "./route_step.ts";
import { type ConnectionPath, type End, type Step, unknowing } from "./connection_path.ts";

export interface Chained {
  readonly chain: FilterChain;
  readonly incoming: Incoming;
  /** The request, if the chain reads HTTP. */
  readonly request: Request;
  readonly identity: Access["identity"];
  readonly direction: Answer["direction"];
}

/** Adds the stations after a filter chain. */
export function throughChain(path: ConnectionPath, inside: Inside, chained: Chained): void {
  const { facts, config, original } = inside;
  const { chain, incoming, direction } = chained;
  const http = chain.filters.find((filter) => filter.kind === "http");
  const routed = http && routeSteps(config, http.http, chained.request, facts.workload);
  const step = authorization(inside, chained, routed);
  if (step !== undefined && !path.add(step) && step.end?.verdict === "refused") return;
  const [unsure] = routed === undefined ? [] : addRoutes(path, routed);
  const targets = routed?.targets ?? tcpTargets(chain, incoming);
  if (targets === undefined) {
    path.add(unknowing("cluster", { message: `the chain's filters ${filterNames(chain)} choose the destination` }));
    return;
  }
  const header = (name: string) => routed && headerText(chained.request, name);
  const isRefused = addTargets(path, inside, targets, { original, header, direction });
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

/** Returns the authorization step; `undefined` if no filter can refuse the connection. */
function authorization(
  { facts, original }: Inside,
  { chain, incoming, identity, ...chained }: Chained,
  routed: Routed | undefined,
): Step | undefined {
  const request = routed && chained.request;
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
  const others = { unknown: unknownFilters(chain), token, workload: facts.workload };
  return authorizationStep(rulesOf(chain, routed?.overrides ?? []), access, others);
}

/** Returns the clusters of a TCP connection; `undefined` if no known filter names a cluster. */
function tcpTargets({ filters, origin }: FilterChain, { sni }: Incoming): Target[] | undefined {
  const tcp = filters.find((filter) => filter.kind === "tcp");
  if (tcp === undefined) return undefined;
  const byName = filters.some(({ kind }) => kind === "sni-cluster") && sni !== "";
  if (byName) return [{ cluster: sni, share: 1, origin }];
  return targetsOf(tcp.clusters.filter(({ weight }) => weight > 0), 1, origin);
}

function filterNames({ filters }: FilterChain): string {
  return filters.map((filter) => filter.kind === "other" ? filter.name : filter.kind).join(", ");
}

/** Adds the stations of all targets. Refuses the connection if all targets refuse. Returns whether any target refuses. */
function addTargets(
  path: ConnectionPath,
  { facts, config }: Pick<Inside, "facts" | "config">,
  targets: readonly Target[],
  asked: Omit<Asked, "name" | "origin">,
): boolean {
  const ends: { readonly share: number; readonly end: End }[] = [];
  const shares = sharesByName(targets);
  for (const [name, share] of shares) {
    const origin = targets.find(({ cluster }) => cluster === name)?.origin ?? "";
    const { steps, isKnown, endpoints } = clusterSteps(facts, config, { ...asked, name, origin });
    if (isKnown) path.cluster(name, Number((share * 100).toFixed(4)));
    path.endpoints(endpoints);
    for (const step of steps) shares.size === 1 ? path.add(step) : path.note(step);
    ends.push(...steps.flatMap(({ end }) => end === undefined ? [] : [{ share, end }]).slice(0, 1));
  }
  const [first] = ends;
  if (first === undefined || shares.size === 1) return first !== undefined;
  if (ends.length === shares.size) {
    path.end(first.end);
    return true;
  }
  const share = ends.reduce((sum, each) => sum + each.share, 0);
  path.concern({
    reason: `${percent(share)} of requests are refused: ${first.end.reason}`,
    fix: first.end.fix,
    cause: first.end.cause,
  });
  return true;
}

/** Returns the share of each cluster. Several routes can name the same cluster. */
function sharesByName(targets: readonly Target[]): ReadonlyMap<string, number> {
  const shares = new Map<string, number>();
  for (const { cluster, share } of targets) shares.set(cluster, (shares.get(cluster) ?? 0) + share);
  return shares;
}
