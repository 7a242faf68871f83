/**
 * The stations of a tunnel. The endpoint is an internal listener of Envoy, such as Istio's `connect_originate`. This
 * listener sends an HTTP CONNECT (HBONE) to the waypoint, or else to the endpoint's own address, where ztunnel or a
 * proxy terminates the tunnel (pilot/pkg/xds/endpoints, buildEnvoyLbEndpoint).
 */
import { joinHostPort } from "../../golang/net/mod.ts";
import { hostAndPort } from "../address.ts";
import type { Cluster } from "../envoy/cluster.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { chainsOf, type Listener } from "../envoy/listener.ts";
import type { Taken, Tunnel } from "./endpoints.ts";
import type { Facts } from "./facts.ts";
import { tlsStep } from "./tls_step.ts";
import { detailOf, listed, passing, refusing, type Step, unknowing } from "./connection_path.ts";

/** Maximum depth of nested tunnels. Istio nests two, to reach another network. */
const MAX_DEPTH = 4;

/** Endpoints behind the same internal listener, with their tunnels. */
interface Tunneled {
  readonly targets: readonly { readonly address: string; readonly tunnel: Tunnel }[];
  readonly depth: number;
}

/** Returns the steps of the tunnels to these endpoints. Endpoints with the same internal listener share their steps. */
export function tunnelSteps(facts: Facts, config: EnvoyConfig, taken: readonly Taken[]): Step[] {
  const tunneled = taken.flatMap(({ address, tunnel }) => tunnel === undefined ? [] : [{ address, tunnel }]);
  const groups = Map.groupBy(tunneled, ({ tunnel }) => tunnel.listener);
  return [...groups].flatMap(([name, targets]) => throughListener(facts, config, name, { targets, depth: 0 }));
}

function throughListener(facts: Facts, config: EnvoyConfig, name: string, tunneled: Tunneled): Step[] {
  const listener = config.listeners.find((each) => each.name === name);
  if (listener === undefined) {
    const message = `Envoy has no internal listener ${name}, which the endpoint uses: 503 UF`;
    const fix = "check why the control plane does not send this listener (readiness)";
    return [refusing("listener", { name, message }, fix)];
  }
  const next = clusterOf(listener);
  if (next === undefined || tunneled.depth === MAX_DEPTH) {
    return [unknowing("listener", { name, message: `the destination of the internal listener ${name} is unknown` })];
  }
  const own = tunneled.targets.map(({ address }) => address);
  const message = `the endpoint is the internal listener ${name}: HTTP CONNECT to ${listed(own)} (HBONE)`;
  const step = passing("listener", { name, message, detail: { tunnelTo: own } });
  const cluster = config.cluster(next);
  if (cluster !== undefined) return [step, ...throughCluster(facts, config, cluster, tunneled)];
  const absent = `Envoy has no cluster ${next}, which the internal listener ${name} uses`;
  const fix = "check why the control plane does not send this cluster";
  return [step, refusing("cluster", { name: next, message: absent }, fix)];
}

/** Returns the steps of the tunnel's cluster, which leads to the targets' hosts or to another internal listener. */
function throughCluster(facts: Facts, config: EnvoyConfig, cluster: Cluster, { targets, depth }: Tunneled): Step[] {
  const { name, originalDst } = cluster;
  const inner = cluster.assignment?.endpoints.find(({ address }) => address.internal !== undefined)?.address.internal;
  if (inner !== undefined) {
    const step = passing("cluster", { name, message: `cluster ${name}: a tunnel inside the tunnel` });
    return [step, ...throughListener(facts, config, inner, { targets, depth: depth + 1 })];
  }
  if (cluster.discovery !== "original-dst") {
    return [unknowing("cluster", { name, message: `the destination of the cluster ${name} is unknown` })];
  }
  const ends = targets.map(({ address, tunnel }) => withPort(tunnel.waypoint || address, originalDst.port));
  const waypoints = targets.map(({ tunnel }) => tunnel.waypoint).filter(Boolean);
  const who = waypoints.length > 0 ? "the waypoint" : "the ztunnel of its node, or the pod's own proxy,";
  const { station, ...ending } = tlsStep(facts, cluster, []);
  return [
    passing("cluster", { name, message: `cluster ${name} connects to port ${originalDst.port} of its destination` }),
    passing("endpoint", {
      name: ends[0] ?? "",
      message: `${listed(ends)}: ${who} accepts the tunnel`,
      detail: detailOf({ tunnel: true, waypoints }),
    }),
    { ...ending, station: { ...station, detail: { ...station.detail, tunnelTo: ends } } },
  ];
}

/** Replaces the port of an address, unless the cluster sets none. */
function withPort(address: string, port: number): string {
  const host = hostAndPort(address)?.host;
  return host === undefined || port === 0 ? address : joinHostPort(host, port);
}

function clusterOf(listener: Listener): string | undefined {
  const names = chainsOf(listener).flatMap(({ filters }) =>
    filters.flatMap((filter) => filter.kind === "tcp" ? filter.clusters.map(({ name }) => name) : [])
  );
  return names.length === 1 ? names[0] : undefined;
}
