/** Describes the faults (aborts and delays) that the configuration injects. */
import { type Fault, readFault } from "../envoy/fault.ts";
import type { HttpManager } from "../envoy/network_filter.ts";
import type { Route, RouteCluster, VirtualHost } from "../envoy/route_config.ts";
import { matchesHeaders } from "../rules/header_match.ts";
import type { Request } from "../rules/request.ts";
import { type Cause, causeIn, type Workload, writerCause } from "../resources/cause.ts";
import { editing } from "./connection_path.ts";
import { percent } from "../rules/route_search.ts";

interface Place {
  readonly route: { readonly route: Route };
  readonly host: { readonly host: VirtualHost };
  readonly http: HttpManager;
  readonly request: Request;
}

export interface FaultText {
  readonly text: string;
  readonly fix: string;
  /** Whether the fault aborts every request. */
  readonly isCertain: boolean;
  readonly cause: Cause;
}

/** Returns the fault of a route. The most specific setting applies: cluster, route, virtual host, then filter. */
export function faultOf(
  { route: { route }, host, http, request }: Place,
  clusters: readonly RouteCluster[],
  workload: Workload,
): FaultText | undefined {
  const filter = http.filters.find((each) => each.kind === "fault");
  if (filter === undefined) return undefined;
  const own = clusters[0]?.overrides.fault ?? route.overrides.fault ?? host.host.overrides.fault;
  const fault = own ?? readFault(filter.config);
  if (!appliesTo(fault, request, clusters)) return undefined;
  const how = own === undefined ? ofFilter(filter.name, workload) : ofRoute(route.origin);
  return abortText(fault, how) ?? delayText(fault, how);
}

type How = Pick<FaultText, "fix" | "cause">;

/** The fix for a fault on a route. A VirtualService sets such a fault. */
function ofRoute(origin: string): How {
  const fix = `remove spec.http.fault from ${origin === "" ? "the VirtualService" : origin}${editing(origin)}`;
  const search = { by: "route", what: "fault", host: "" } as const;
  return { fix, cause: causeIn(origin, "VirtualService", "spec.http.fault", search) };
}

/** The fix for a fault in the filter itself. Istio generates this filter without a fault. */
function ofFilter(name: string, workload: Workload): How {
  return { fix: `remove the filter ${name} from the EnvoyFilter`, cause: writerCause(name, workload) };
}

function abortText({ abort }: Fault, how: How): FaultText | undefined {
  if (abort === undefined || abort.share === 0) return undefined;
  const part = abort.share === 1 ? "every request" : `${percent(abort.share)} of requests`;
  return { text: `a fault aborts ${part} with status ${abort.status} (FI)`, ...how, isCertain: abort.share === 1 };
}

function delayText({ delay }: Fault, how: How): FaultText | undefined {
  if (delay === undefined || delay.share === 0) return undefined;
  const text = `a fault delays ${percent(delay.share)} of requests by ${delay.milliseconds}ms (DI)`;
  return { text, ...how, isCertain: false };
}

function appliesTo({ headers, cluster, nodes }: Fault, request: Request, clusters: readonly RouteCluster[]): boolean {
  const isCluster = cluster === "" || clusters.some(({ name }) => name === cluster);
  return isCluster && nodes.length === 0 && matchesHeaders(headers, request) === "yes";
}
