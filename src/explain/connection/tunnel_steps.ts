/**
 * The stations of a tunnel. The endpoint is an internal listener of Envoy, such as Istio's `connect_originate`. This
 * listener sends an HTTP CONNECT (HBONE) to the waypoint, or else to the endpoint's own address, where ztunnel or a
 * proxy terminates the tunnel (pilot/pkg/xds/endpoints, buildEnvoyLbEndpoint).
 */
import { joinHostPort, splitHostPort } from "../../golang/net/mod.ts";
import type { Cluster } from "../envoy/cluster.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import type { Listener } from "../envoy/listener.ts";
import { NOTHING, type Taken, type Tunnel } from "./endpoints.ts";
import type { Facts } from "./facts.ts";
import { tlsStep } from "./tls_step.ts";
import { detailOf, listed, passing, refusing, type Step, unknowing } from "./connection_path.ts";

/** Maximum depth of nested tunnels. Istio nests two, to reach another network. */
const MAX_DEPTH = 4;

/** An endpoint, and the tunnel to it. */
interface Tunneled {
  readonly address: string;
  readonly tunnel: Tunnel;
}

/** Returns the steps of the tunnels to these endpoints. Endpoints with the same internal listener share their steps. */
export function tunnelSteps(facts: Facts, config: EnvoyConfig, taken: readonly Taken[]): Step[] {
  const tunneled = taken.flatMap(({ address, tunnel }) => tunnel === undefined ? [] : [{ address, tunnel }]);
  const groups = Map.groupBy(tunneled, ({ tunnel }) => tunnel.listener);
  return [...groups].flatMap(([name, targets]) => throughListener(facts, config, { name, targets, depth: 0 }));
}

interface Inner {
  readonly name: string;
  readonly targets: readonly Tunneled[];
  readonly depth: number;
}

function throughListener(facts: Facts, config: EnvoyConfig, { name, targets, depth }: Inner): Step[] {
  const listener = config.listeners.find((each) => each.name === name);
  if (listener === undefined) {
    const message = `Envoy has no internal listener ${name}, which the endpoint uses: 503 UF`;
    return [
      refusing("listener", { name, message }, "check why the control plane does not send this listener (readiness)"),
    ];
  }
  const next = clusterOf(listener);
  if (next === undefined || depth === MAX_DEPTH) {
    return [unknowing("listener", { name, message: `the destination of the internal listener ${name} is unknown` })];
  }
  const own = targets.map(({ address }) => address);
  const message = `the endpoint is the internal listener ${name}: HTTP CONNECT to ${listed(own)} (HBONE)`;
  const step = passing("listener", { name, message, detail: { tunnelTo: own } });
  const cluster = config.cluster(next);
  if (cluster === undefined) {
    const absent = `Envoy has no cluster ${next}, which the internal listener ${name} uses`;
    return [
      step,
      refusing("cluster", { name: next, message: absent }, "check why the control plane does not send this cluster"),
    ];
  }
  return [step, ...throughCluster(facts, config, { cluster, targets, depth })];
}

interface Outer {
  readonly cluster: Cluster;
  readonly targets: readonly Tunneled[];
  readonly depth: number;
}

/** Returns the steps of the tunnel's cluster, which leads to the targets' hosts or to another internal listener. */
function throughCluster(facts: Facts, config: EnvoyConfig, { cluster, targets, depth }: Outer): Step[] {
  const inner = cluster.assignment?.endpoints.find(({ address }) => address.internal !== undefined)?.address.internal;
  if (inner !== undefined) {
    const step = passing("cluster", {
      name: cluster.name,
      message: `cluster ${cluster.name}: a tunnel inside the tunnel`,
    });
    return [step, ...throughListener(facts, config, { name: inner, targets, depth: depth + 1 })];
  }
  if (cluster.discovery !== "original-dst") {
    return [
      unknowing("cluster", {
        name: cluster.name,
        message: `the destination of the cluster ${cluster.name} is unknown`,
      }),
    ];
  }
  const ends = targets.map((target) => hboneAddress(cluster, target));
  const waypoints = targets.some(({ tunnel }) => tunnel.waypoint !== "");
  const who = waypoints ? "the waypoint" : "the ztunnel of its node, or the pod's own proxy,";
  const { station, ...ending } = tlsStep(facts, cluster, NOTHING);
  return [
    passing("cluster", {
      name: cluster.name,
      message: `cluster ${cluster.name} connects to port ${cluster.originalDst.port} of its destination`,
    }),
    passing("endpoint", {
      name: ends[0] ?? "",
      message: `${listed(ends)}: ${who} accepts the tunnel`,
      detail: detailOf({ tunnel: true, waypoints: targets.map(({ tunnel }) => tunnel.waypoint).filter(Boolean) }),
    }),
    { ...ending, station: { ...station, detail: { ...station.detail, tunnelTo: ends } } },
  ];
}

/** Returns the address to which the tunnel connects: the waypoint or else the endpoint, with the cluster's port. */
function hboneAddress({ originalDst }: Cluster, { address, tunnel }: Tunneled): string {
  const parts = splitHostPort(tunnel.waypoint || address);
  if (typeof parts === "string" || originalDst.port === 0) return tunnel.waypoint || address;
  return joinHostPort(parts.host, originalDst.port);
}

function clusterOf({ chains, defaultChain }: Listener): string | undefined {
  const all = [...chains, ...defaultChain === undefined ? [] : [defaultChain]];
  const names = all.flatMap(({ filters }) =>
    filters.flatMap((filter) => filter.kind === "tcp" ? filter.clusters.map(({ name }) => name) : [])
  );
  return names.length === 1 ? names[0] : undefined;
}
