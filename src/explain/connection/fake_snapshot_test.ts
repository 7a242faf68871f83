/** A small pod for tests, with one service and one inbound port. Without changes, it has no problem. */
import assert from "node:assert/strict";
import type { Part } from "../snapshot/snapshot.ts";
import type { Evidence, ProbedSnapshot } from "../evidence.ts";
import { snapshotOf } from "../snapshot/manifest.ts";

/** Changes of the pod, of Envoy's configuration, and of the snapshot. */
export interface Changes {
  readonly endpoints?: readonly string[];
  /** The TLS mode of all endpoints, or of each endpoint. */
  readonly tlsMode?: string | readonly string[];
  readonly isEjected?: boolean;
  /** `lb_subset_config` of the service's cluster. */
  readonly lb_subset_config?: object;
  /** The cluster of the route. */
  readonly cluster?: string;
  readonly passthrough?: string;
  readonly hasListeners?: boolean;
  readonly uid?: number;
  readonly spec?: object;
  /** The kernel's rules; `undefined` if the snapshot does not contain them. */
  readonly rules?: string | undefined;
  readonly expires?: string;
  /** Listening sockets, as ports or `ADDRESS:PORT`. */
  readonly sockets?: readonly (number | string)[] | undefined;
  /** Whether Envoy's state and the dump contain endpoints. */
  readonly hasEndpoints?: boolean;
  /** The inbound port accepts plain text too. */
  readonly isPermissive?: boolean;
  /** The resource of the route and of the cluster's settings: `destination-rule/web`. */
  readonly origin?: string;
  readonly max_connections?: number;
  /** The inbound port accepts only plain text. */
  readonly isDisabled?: boolean;
  /** The identity in the workload's certificate. */
  readonly identity?: string;
  /** The identity that the client's TLS expects. */
  readonly expects?: string;
  readonly isReady?: boolean;
  /** The secret in the TLS that a DestinationRule sets for the service's cluster; empty for mode SIMPLE. */
  readonly ownTls?: string;
  readonly allow?: { readonly source_ip?: string; readonly identity?: string };
  readonly config?: string;
  /** Istio's text of the workload in the metadata of endpoints, and the client's own cluster. */
  readonly workload?: string;
  readonly clusterId?: string;
  readonly tunnel?: { readonly waypoint?: string; readonly hasListener?: boolean };
  readonly probe?: Evidence;
}

const TYPE = "type.googleapis.com/envoy";
const WEB = "outbound|80||web.shop.svc.cluster.local";
const ARGS = ["istio-iptables", "-p", "15001", "-z", "15006", "-u", "1337", "-i", "*", "-b", "*"];

const RULES = `*nat
-A PREROUTING -p tcp -j ISTIO_INBOUND
-A OUTPUT -j ISTIO_OUTPUT
-A ISTIO_INBOUND -p tcp -j ISTIO_IN_REDIRECT
-A ISTIO_IN_REDIRECT -p tcp -j REDIRECT --to-ports 15006
-A ISTIO_OUTPUT ! -d 127.0.0.1/32 -o lo -p tcp -m owner --uid-owner 1337 -j ISTIO_IN_REDIRECT
-A ISTIO_OUTPUT -m owner --uid-owner 1337 -j RETURN
-A ISTIO_OUTPUT -j ISTIO_REDIRECT
-A ISTIO_REDIRECT -p tcp -j REDIRECT --to-ports 15001
COMMIT
`;

export function fakeSnapshot(changes: Changes = {}): ProbedSnapshot {
  const { rules = "rules" in changes ? undefined : RULES, config = JSON.stringify(dump(changes)) } = changes;
  const certificate = {
    cert_chain: [{
      subject_alt_names: [{ uri: changes.identity ?? "spiffe://x" }],
      expiration_time: changes.expires ?? "2036-01-01T00:00:00Z",
    }],
  };
  const { sockets: listening = "sockets" in changes ? undefined : [8080], hasEndpoints = true } = changes;
  const sockets = listening?.map((each) => `LISTEN 0 9 ${typeof each === "number" ? `0.0.0.0:${each}` : each} *:*\n`);
  const texts: Readonly<Record<string, string | undefined>> = {
    "manifest.json": JSON.stringify({
      schemaVersion: 1,
      pod: { namespace: "shop", name: "a" },
      time: "2026-11-22T00:00:00Z",
    }),
    "config_dump.json": config,
    "clusters.json": hasEndpoints ? JSON.stringify(statuses(changes)) : undefined,
    "certs.json": JSON.stringify({ certificates: [certificate] }),
    "pod.json": JSON.stringify(pod(changes)),
    "rules.iptables": rules,
    "sockets.txt": sockets?.join(""),
  };
  const parts = Object.entries(texts).flatMap(([name, text]): [string, Part][] =>
    text === undefined ? [] : [[name, { text }]]
  );
  const { probe } = changes;
  return { ...snapshotOf(new Map(parts), "a test"), ...probe === undefined ? {} : { probe } };
}

function pod({ uid = 1000, spec = {} }: Changes): object {
  const app = { name: "app", securityContext: { runAsUser: uid } };
  const init = [{ name: "istio-init", args: ARGS }];
  return {
    metadata: { name: "a", namespace: "shop" },
    spec: { initContainers: init, containers: [app, { name: "istio-proxy" }], ...spec },
    status: { podIP: "10.0.0.8" },
  };
}

function endpointAddress(address: string, tunnel: Changes["tunnel"]): object {
  if (tunnel === undefined) return { socket_address: { address, port_value: 8080 } };
  const endpoint_id = tunnel.waypoint ?? `${address}:8080`;
  return { envoy_internal_address: { server_listener_name: "connect_originate", endpoint_id } };
}

function statuses({ endpoints = ["10.0.0.9"], isEjected = false, tunnel }: Changes): object {
  const host_statuses = endpoints.map((address) => ({
    address: endpointAddress(address, tunnel),
    health_status: { failed_outlier_check: isEjected },
  }));
  return { cluster_statuses: [{ name: WEB, host_statuses }] };
}

function tls(kind: "Upstream" | "Downstream", expects?: string, secret = "default"): object {
  const common_tls_context = {
    tls_certificate_sds_secret_configs: secret === "" ? [] : [{ name: secret }],
    ...expects === undefined ? { validation_context_sds_secret_config: { name: "ROOTCA" } } : {
      combined_validation_context: {
        default_validation_context: { match_subject_alt_names: [{ exact: expects }] },
        validation_context_sds_secret_config: { name: "ROOTCA" },
      },
    },
  };
  const typed_config = {
    "@type": `${TYPE}.extensions.transport_sockets.tls.v3.${kind}TlsContext`,
    common_tls_context,
    require_client_certificate: true,
  };
  return { name: "tls", typed_config };
}

function network(type: string, config: object): object {
  return { name: type, typed_config: { "@type": `${TYPE}.x.v3.${type}`, ...config } };
}

function listener(name: string, port: number, more: object): object {
  const address = { socket_address: { address: "0.0.0.0", port_value: port } };
  return { name, active_state: { listener: { name, address, ...more } } };
}

function host(name: string, domains: readonly string[], cluster: string, more: object = {}): object {
  return { name, domains, routes: [{ name: "default", match: { prefix: "/" }, route: { cluster }, ...more }] };
}

function allowing({ source_ip, identity }: NonNullable<Changes["allow"]>): object {
  const principal = source_ip === undefined
    ? { authenticated: { principal_name: { exact: identity } } }
    : { source_ip: { address_prefix: source_ip, prefix_len: 16 } };
  const policy = { permissions: [{ any: true }], principals: [principal] };
  return network("RBAC", { rules: { policies: { "ns[shop]-policy[allow]-rule[0]": policy } } });
}

function listeners(
  { passthrough = "PassthroughCluster", allow, isPermissive = false, isDisabled = false, tunnel }: Changes,
): object[] {
  const http = (routes: object, filters: readonly object[] = []) =>
    network("HttpConnectionManager", { ...routes, http_filters: [...filters, network("Router", {})] });
  const tcp = (cluster: string) => [{ name: "tcp", filters: [network("TcpProxy", { cluster })] }];
  const inbound = http(
    { route_config: { name: "in", virtual_hosts: [host("in", ["*"], "inbound|8080||")] } },
    allow === undefined ? [] : [allowing(allow)],
  );
  const own = {
    name: "0.0.0.0_8080",
    filter_chain_match: { destination_port: 8080, transport_protocol: "tls" },
    transport_socket: tls("Downstream"),
    filters: [inbound],
  };
  const plain = {
    name: "0.0.0.0_8080",
    filter_chain_match: { destination_port: 8080, transport_protocol: "raw_buffer" },
    filters: [inbound],
  };
  return [
    listener("virtualOutbound", 15001, { use_original_dst: true, filter_chains: tcp(passthrough) }),
    listener("virtualInbound", 15006, {
      listener_filters: [{ name: "envoy.filters.listener.tls_inspector" }],
      filter_chains: isDisabled ? [plain] : isPermissive ? [own, plain] : [own],
    }),
    listener("0.0.0.0_80", 80, {
      bind_to_port: false,
      filter_chains: [{ filters: [http({ rds: { route_config_name: "80" } })] }],
    }),
    ...tunnel === undefined || tunnel.hasListener === false ? [] : [{
      name: "connect_originate",
      active_state: {
        listener: { name: "connect_originate", internal_listener: {}, filter_chains: tcp("connect_originate") },
      },
    }],
  ];
}

function assigned(
  endpoints: readonly string[],
  tlsMode: string | readonly string[],
  { tunnel, workload }: Changes,
): object[] {
  const istio = workload === undefined ? {} : { istio: { workload } };
  return endpoints.map((address, at) => {
    const match = tunnel === undefined
      ? { tlsMode: typeof tlsMode === "string" ? tlsMode : tlsMode[at] }
      : { tunnel: "http" };
    const destination = tunnel === undefined
      ? {}
      : { "envoy.filters.listener.original_dst": { local: `${address}:8080`, waypoint: tunnel.waypoint } };
    return {
      endpoint: { address: endpointAddress(address, tunnel) },
      metadata: { filter_metadata: { "envoy.transport_socket_match": match, ...destination, ...istio } },
    };
  });
}

/** Returns the metadata in which Istio names the resource of the route and of the cluster. */
function istioMetadata({ origin }: Changes): object {
  const config = `/apis/networking.istio.io/v1/namespaces/shop/${origin}`;
  return origin === undefined ? {} : { metadata: { filter_metadata: { istio: { config } } } };
}

function clusters(changes: Changes): object[] {
  const { lb_subset_config, isEjected, max_connections, tunnel, expects, ownTls } = changes;
  const internal = { "@type": `${TYPE}.x.v3.InternalUpstreamTransport`, transport_socket: { name: "raw_buffer" } };
  const transport_socket_matches = [
    { name: "hbone", match: { tunnel: "http" }, transport_socket: { typed_config: internal } },
    { name: "tlsMode-istio", match: { tlsMode: "istio" }, transport_socket: tls("Upstream", expects) },
  ];
  return [
    {
      name: WEB,
      type: "EDS",
      ...ownTls === undefined ? { transport_socket_matches } : { transport_socket: tls("Upstream", undefined, ownTls) },
      common_lb_config: { healthy_panic_threshold: {} },
      lb_subset_config,
      ...isEjected === undefined ? {} : { outlier_detection: {} },
      ...max_connections === undefined ? {} : { circuit_breakers: { thresholds: [{ max_connections }] } },
      ...istioMetadata(changes),
    },
    { name: "PassthroughCluster", type: "ORIGINAL_DST" },
    { name: "BlackHoleCluster", type: "STATIC" },
    { name: "inbound|8080||", type: "ORIGINAL_DST" },
    ...tunnel === undefined ? [] : [{
      name: "connect_originate",
      type: "ORIGINAL_DST",
      original_dst_lb_config: { upstream_port_override: 15008 },
      transport_socket: tls("Upstream"),
    }],
  ];
}

function dump(changes: Changes): object {
  const { cluster = WEB, tlsMode = "istio", endpoints = ["10.0.0.9"], hasListeners = true, hasEndpoints = true } =
    changes;
  const lb_endpoints = assigned(endpoints, tlsMode, changes);
  const web = host(
    "web.shop.svc.cluster.local:80",
    ["web.shop.svc.cluster.local", "web", "10.96.0.9"],
    cluster,
    istioMetadata(changes),
  );
  const section = (type: string, content: object) => ({ "@type": `${TYPE}.admin.v3.${type}`, ...content });
  return {
    configs: [
      ...changes.clusterId === undefined
        ? []
        : [section("BootstrapConfigDump", { bootstrap: { node: { metadata: { CLUSTER_ID: changes.clusterId } } } })],
      section("ListenersConfigDump", { dynamic_listeners: hasListeners ? listeners(changes) : [] }),
      section("ClustersConfigDump", { dynamic_active_clusters: clusters(changes).map((each) => ({ cluster: each })) }),
      section("RoutesConfigDump", {
        dynamic_route_configs: [{
          route_config: { name: "80", ignore_port_in_host_matching: true, virtual_hosts: [web] },
        }],
      }),
      section("EndpointsConfigDump", {
        dynamic_endpoint_configs: hasEndpoints
          ? [{ endpoint_config: { cluster_name: WEB, endpoints: [{ lb_endpoints }] } }]
          : [],
      }),
    ],
  };
}

Deno.test("the pod of the tests is a snapshot", () => {
  assert.deepEqual(fakeSnapshot().pod, { namespace: "shop", name: "a" });
});
