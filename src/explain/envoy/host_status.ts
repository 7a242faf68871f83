/** Reads the current hosts of a cluster from `/clusters?format=json` (envoy/admin/v3/clusters.proto). */
import { mapAt, mapsAt, textAt, type ValueMap } from "../../base/value.ts";
import { addressAt, flagAt, numberAt, type SocketAddress } from "./message.ts";
import { localityText } from "./assignment.ts";

export interface ClusterStatus {
  readonly name: string;
  readonly hosts: readonly HostStatus[];
}

export interface HostStatus {
  readonly address: SocketAddress;
  readonly health: "healthy" | "degraded" | "unhealthy";
  /** Why the host is unhealthy; empty for a healthy host. */
  readonly why: string;
  readonly locality: string;
  readonly priority: number;
  /** Counters of the host, such as failed connections and failed requests. */
  readonly counters: ReadonlyMap<string, number>;
}

export function readClusterStatus(status: ValueMap): ClusterStatus {
  return { name: textAt(status, "name"), hosts: mapsAt(status, "host_statuses").flatMap(readHost) };
}

function readHost(host: ValueMap): HostStatus[] {
  const address = addressAt(host, "address");
  if (address === undefined) return [];
  const health = readHealth(mapAt(host, "health_status"));
  return [{
    address,
    ...health,
    locality: localityText(mapAt(host, "locality")),
    priority: numberAt(host, "priority") ?? 0,
    counters: new Map(mapsAt(host, "stats").map((stat) => [textAt(stat, "name"), numberAt(stat, "value") ?? 0])),
  }];
}

/** Flags of unhealthy hosts, with their meaning. */
const UNHEALTHY: readonly (readonly [flag: string, why: string])[] = [
  ["failed_outlier_check", "ejected by outlier detection"],
  ["failed_active_health_check", "its health check fails"],
  ["active_hc_timeout", "its health check times out"],
  ["pending_active_hc", "its first health check is not complete"],
  ["pending_dynamic_removal", "it is being removed"],
];

function readHealth(status: ValueMap): Pick<HostStatus, "health" | "why"> {
  const flag = UNHEALTHY.find(([name]) => flagAt(status, name));
  if (flag !== undefined) return { health: "unhealthy", why: flag[1] };
  return assignedHealth(textAt(status, "eds_health_status"), flagAt(status, "failed_active_degraded_check"));
}

const ASSIGNED: Readonly<Record<string, string>> = {
  UNHEALTHY: "the control plane reports it as unhealthy",
  TIMEOUT: "the control plane reports that its health check times out",
  DRAINING: "it is draining",
};

/** Returns the health for an EDS health status, and the reason if unhealthy. */
export function assignedHealth(status: string, isDegraded = false): Pick<HostStatus, "health" | "why"> {
  const why = Object.hasOwn(ASSIGNED, status) ? ASSIGNED[status] : undefined;
  if (why !== undefined) return { health: "unhealthy", why };
  if (status === "DEGRADED" || isDegraded) return { health: "degraded", why: "it is degraded" };
  return { health: "healthy", why: "" };
}
