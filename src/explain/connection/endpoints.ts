/** The endpoints of a cluster: their health, and the endpoints that load balancing can choose. */
import { joinHostPort } from "../../golang/net/mod.ts";
import { mapAt, textAt, type ValueMap } from "../../base/value.ts";
import { type Assignment, OVERPROVISIONING } from "../envoy/assignment.ts";
import type { Cluster } from "../envoy/cluster.ts";
import { type EnvoyConfig, nodeOf } from "../envoy/config.ts";
import { assignedHealth, type ClusterStatus } from "../envoy/host_status.ts";
import type { SocketAddress } from "../envoy/message.ts";
import { type Host, hostsTaken } from "../rules/load_balancing.ts";
import type { Answer } from "../answer_schema.ts";
import type { Original } from "./listener_step.ts";

export interface Asked {
  readonly name: string;
  /** Destination of the connection before redirection; original-dst clusters connect to it. */
  readonly original: Original;
  /** Returns the value of a request header. An original-dst cluster can read its host from a header. */
  readonly header: (name: string) => string | undefined;
  readonly direction: Answer["direction"];
  /** The resource that names the cluster, such as `VirtualService shop/reviews`; empty if unknown. */
  readonly origin: string;
}

export interface Taken {
  /** Address of the endpoint, as `ADDRESS:PORT`. */
  readonly address: string;
  /** `healthy`, `degraded`, or why the endpoint is unhealthy; `unknown` if it is not in Envoy's state. */
  readonly health: string;
  /** Metadata that selects the transport socket; `undefined` if unknown. */
  readonly metadata: ValueMap | undefined;
  /** The tunnel to the endpoint, through an internal listener of this Envoy. */
  readonly tunnel?: Tunnel | undefined;
  /** Describes the mesh cluster of the endpoint, or the gateway to its network; empty for the client's cluster. */
  readonly elsewhere?: string;
}

/** A tunnel: its internal listener, and the `ADDRESS:PORT` of its waypoint (empty if it has no waypoint). */
export interface Tunnel {
  readonly listener: string;
  readonly waypoint: string;
}

export interface Found {
  readonly taken: readonly Taken[];
  readonly all: readonly Taken[];
  readonly isPanic: boolean;
  readonly loads: readonly number[];
  /** Addresses of unhealthy endpoints, each with the reason. */
  readonly unhealthy: readonly string[];
  readonly localities: readonly string[];
  readonly isKnown: boolean;
  /** Why the endpoints or their state are unknown; empty if they are known. */
  readonly why: string;
}

/** Returns the result for endpoints whose state is unknown. */
function unknown(why: string, all: readonly Taken[] = []): Found {
  return { taken: [], all, isPanic: false, loads: [], unhealthy: [], localities: [], isKnown: false, why };
}

/** Returns the endpoints of a cluster, from Envoy's host state or else from the assignment (EDS). */
export function endpointsOf(config: EnvoyConfig, cluster: Cluster, asked: Asked): Found {
  if (cluster.discovery === "original-dst") return originalDestination(cluster, asked);
  const assignment = cluster.assignment ?? config.assignment(cluster.edsName || cluster.name) ??
    config.assignment(cluster.name);
  const status = config.status(cluster.name);
  const hosts = hostsOf(status, assignment, textAt(mapAt(nodeOf(config), "metadata"), "CLUSTER_ID"));
  if (hosts === undefined) return unknown(`the snapshot does not contain the endpoints of ${cluster.name}`);
  const all = hosts.map(takenOf);
  if (cluster.hasSubsets) return unknown("Envoy chooses endpoints by metadata (lb_subset_config)", all);
  const { panicThreshold, localityWeighted } = cluster;
  const overprovisioning = assignment?.overprovisioning ?? OVERPROVISIONING;
  const { taken, isPanic, loads } = hostsTaken(hosts, { panicThreshold, localityWeighted, overprovisioning });
  return {
    taken: taken.map(takenOf),
    all,
    isPanic,
    loads,
    unhealthy: hosts.filter(({ health }) => health === "unhealthy").map(({ address, why }) => `${address}: ${why}`),
    localities: [...new Set(taken.map(({ locality }) => locality))].filter(Boolean),
    isKnown: true,
    why: status !== undefined || !isChecked(cluster)
      ? ""
      : "without clusters.json, it is unknown which endpoints Envoy uses now",
  };
}

/** Whether Envoy itself changes the hosts or their health, with outlier detection, health checks or DNS. */
function isChecked({ outlierDetection, hasHealthChecks, discovery }: Cluster): boolean {
  return outlierDetection !== undefined || hasHealthChecks || discovery.endsWith("-dns");
}

function originalDestination({ originalDst }: Cluster, { original, header }: Asked): Found {
  const named = originalDst.header === "" ? undefined : header(originalDst.header);
  const port = originalDst.port === 0 ? original.port : originalDst.port;
  const address = named ?? (original.address === undefined ? undefined : joinHostPort(original.address, port));
  if (address === undefined) {
    return unknown(`Envoy connects to the original address, which is unknown, on port ${port}`);
  }
  const only: Taken = { address, health: "unknown", metadata: undefined };
  return { ...unknown("", [only]), taken: [only], isKnown: true };
}

interface HostEntry extends Host {
  readonly address: string;
  readonly why: string;
  readonly metadata: ValueMap | undefined;
  readonly tunnel: Tunnel | undefined;
  readonly elsewhere: string;
}

/** Merges Envoy's host state with the assignment, which contains the metadata. */
function hostsOf(
  status: ClusterStatus | undefined,
  assignment: Assignment | undefined,
  own: string,
): HostEntry[] | undefined {
  if (status === undefined && assignment === undefined) return undefined;
  const assigned = new Map((assignment?.endpoints ?? []).map((endpoint) => [addressText(endpoint.address), endpoint]));
  const hosts = status?.hosts ?? [...assigned.values()].map((each) => ({ ...each, ...assignedHealth(each.health) }));
  return hosts.map(({ health, why, locality, priority, ...host }) => {
    const address = addressText(host.address);
    const endpoint = assigned.get(address);
    return {
      ...{ address, health, why, locality, priority },
      localityWeight: endpoint?.localityWeight,
      metadata: endpoint?.transportMetadata,
      tunnel: tunnelOf(host.address, endpoint?.waypoint),
      elsewhere: endpoint === undefined ? "" : elsewhere(endpoint, own),
    };
  });
}

/**
 * Describes where an endpoint is; empty for an endpoint in the client's cluster. If the client's cluster is unknown,
 * describes only gateways.
 */
function elsewhere({ cluster, isGateway }: Assignment["endpoints"][number], own: string): string {
  if (isGateway && cluster !== own) return `the gateway to the network of the cluster "${cluster}"`;
  return cluster === "" || own === "" || cluster === own ? "" : `in the cluster "${cluster}"`;
}

function tunnelOf({ internal }: SocketAddress, waypoint = ""): Tunnel | undefined {
  return internal === undefined ? undefined : { listener: internal, waypoint };
}

function takenOf({ address, health, why, metadata, tunnel, elsewhere }: HostEntry): Taken {
  return { address, health: why === "" ? health : why, metadata, tunnel, elsewhere };
}

/** Returns `ADDRESS:PORT`, or the path of a Unix domain socket. */
export function addressText({ address, port }: SocketAddress): string {
  return port === 0 ? address : joinHostPort(address, port);
}
