/** The stations of a cluster: the cluster itself, its endpoints, and the TLS to the endpoints. */
import type { Answer, Detail, StationResult } from "../answer_schema.ts";
import { type Cluster, DEFAULT_LIMITS } from "../envoy/cluster.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { closest } from "../../base/text/mod.ts";
import { clusterParts, isService } from "../names/services.ts";
import { type Cause, causeIn, causeOf } from "../resources/cause.ts";
import { openBreakers } from "./breakers.ts";
import { type Asked, endpointsOf, type Found } from "./endpoints.ts";
import type { Facts } from "./facts.ts";
import { originalText } from "./listener_step.ts";
import { tlsStep } from "./tls_step.ts";
import { tunnelSteps } from "./tunnel_steps.ts";
import { serviceCause, wrongPort } from "./wrong_port.ts";
import {
  clauses,
  detailOf,
  editing,
  listed,
  MAX_SHOWN,
  passing,
  refusing,
  type Step,
  unknowing,
  unsure,
} from "./connection_path.ts";

/** The steps of one cluster, and its endpoints. */
interface ClusterSteps {
  readonly steps: readonly Step[];
  /** Whether Envoy's configuration contains the cluster. */
  readonly isKnown: boolean;
  readonly endpoints: Answer["endpoints"];
}

/** Returns the steps of the cluster that `asked` names. */
export function clusterSteps(facts: Facts, config: EnvoyConfig, asked: Asked): ClusterSteps {
  const cluster = config.cluster(asked.name);
  if (cluster === undefined) return { steps: [absent(config, asked)], isKnown: false, endpoints: [] };
  const wrong = PASSTHROUGH.has(cluster.name) || cluster.name === "BlackHoleCluster"
    ? wrongPort(facts, config, asked)
    : undefined;
  if (wrong?.end !== undefined) return { steps: [wrong], isKnown: true, endpoints: [] };
  if (cluster.name === "BlackHoleCluster") return { steps: [blackHole(facts, asked)], isKnown: true, endpoints: [] };
  const own = wrong ?? clusterStation(facts, config, cluster);
  const found = endpointsOf(config, cluster, asked);
  const steps = [own, endpointStep(facts, cluster, found, asked)];
  const isRefused = steps.some(({ end }) => end !== undefined);
  return {
    steps: isRefused ? steps : [...steps, ...transportSteps(facts, config, { cluster, found, asked })],
    isKnown: true,
    endpoints: found.taken.map(({ address, health }) => ({ address, health })),
  };
}

interface Chosen {
  readonly cluster: Cluster;
  readonly found: Found;
  readonly asked: Asked;
}

/** Returns the TLS step for endpoints without a tunnel, and the tunnels' steps. Plain text in the pod needs no step. */
function transportSteps(facts: Facts, config: EnvoyConfig, { cluster, found, asked }: Chosen): Step[] {
  const isInside = asked.direction === "inbound" && cluster.transport.kind === "plain" &&
    cluster.transportMatches.length === 0;
  const direct = found.taken.filter(({ tunnel }) => tunnel === undefined);
  const isTunneled = found.taken.length > 0 && direct.length === 0;
  return [
    ...isInside || isTunneled ? [] : [tlsStep(facts, cluster, { ...found, taken: direct })],
    ...tunnelSteps(facts, config, found.taken),
  ];
}

function absent(config: EnvoyConfig, { name, origin }: Asked): Step {
  const { clusterNames, rejected } = config;
  if (!config.hasSection("ClustersConfigDump")) {
    return unknowing("cluster", { name, message: "the dump has no clusters" });
  }
  const { subset, host, port } = clusterParts(name);
  const refused = rejected.find((each) => each.name === name);
  const others = clusterNames.filter((each) =>
    host !== "" && each.endsWith(`|${host}`) && clusterParts(each).port === port
  );
  const message = refused === undefined
    ? `Envoy has no cluster ${name}: it returns 503 NC`
    : `Envoy rejected the cluster ${name}: ${refused.why}`;
  const fix = subset !== "" && others.length > 0
    ? `add the subset "${subset}" to spec.subsets of the DestinationRule of ${host}`
    : host === ""
    ? "use the name of a cluster that exists"
    : `create a Service or ServiceEntry "${host}" with the port ${port} that is visible to this pod (exportTo, Sidecar)`;
  const known = others.slice(0, 5);
  const detail = known.length === 0 ? {} : { others: known };
  return refusing("cluster", { name, message, detail }, fix, missingDestination(clusterNames, name, origin));
}

/** Returns the cause if the resource of the route names a host or a subset that does not exist. */
function missingDestination(clusterNames: readonly string[], name: string, origin: string): Cause | undefined {
  const { subset, host } = clusterParts(name);
  if (host === "") return undefined;
  const known = clusterNames.map(clusterParts).filter(({ direction }) => direction === "outbound");
  const instead = subset === "" ? closest(host, [...new Set(known.map((each) => each.host))]) : closest(
    subset,
    known.filter((each) => each.host === host).map((each) => each.subset).filter((each) => each !== ""),
  );
  const field = `spec.http.route.destination.${subset === "" ? "host" : "subset"}`;
  return causeIn(origin, "VirtualService", field, { by: "destination", host, subset, instead: instead ?? "" });
}

function blackHole({ workload }: Facts, { original, direction }: Asked): Step {
  const message = direction === "outbound"
    ? `no service of the mesh has the address ${
      originalText(original)
    }, and outboundTrafficPolicy REGISTRY_ONLY sends unknown destinations to BlackHoleCluster`
    : `BlackHoleCluster closes connections to the proxy's own ports`;
  const fix = direction === "outbound"
    ? "create a ServiceEntry for the destination, or set outboundTrafficPolicy.mode to ALLOW_ANY"
    : "connect to a port of the application";
  const cause = direction === "outbound"
    ? causeOf("Sidecar", "spec.outboundTrafficPolicy.mode", { by: "egress", workload, hosts: [] })
    : undefined;
  return refusing("cluster", { name: "BlackHoleCluster", message }, fix, cause);
}

function clusterStation({ snapshot, workload }: Facts, config: EnvoyConfig, cluster: Cluster): Step {
  const { name, limits } = cluster;
  const detail = clusterDetail(cluster);
  const closed = (["connections", "pending", "requests"] as const).find((key) => limits[key] === 0);
  if (closed !== undefined) {
    const message = `the circuit breaker limits ${closed} to 0: 503 UO`;
    const where = cluster.origin || "the DestinationRule";
    const fix = `raise the limit of ${closed} in spec.trafficPolicy.connectionPool of ${where}${
      editing(cluster.origin)
    }`;
    return refusing("cluster", { name, message, detail }, fix, policyCause(cluster, "connectionPool"));
  }
  const open = openBreakers(snapshot, name);
  const refused = config.rejected.find((each) => each.name === name);
  const concerns = [
    open.length === 0 ? "" : `the circuit breaker is open for ${open.join(", ")}: requests get 503 UO`,
    refused === undefined ? "" : `Envoy rejected its newest version and keeps the previous version: ${refused.why}`,
  ];
  const result: StationResult = concerns.some((each) => each !== "") ? "warning" : "ok";
  const cause = refused === undefined
    ? open.length === 0 ? undefined : policyCause(cluster, "connectionPool")
    : causeOf("EnvoyFilter", "spec.configPatches", { by: "text", workload, text: refused.why });
  return { ...passing("cluster", { name, result, message: clauses(describe(cluster), ...concerns), detail }), cause };
}

function policyCause({ name, origin }: Cluster, part: "connectionPool" | "outlierDetection"): Cause {
  const { port, subset } = clusterParts(name);
  const search = { by: "policy", part, port: Number(port), subset } as const;
  return causeIn(origin, "DestinationRule", `spec.trafficPolicy.${part}`, search);
}

function clusterDetail(cluster: Cluster): Detail {
  const { extension, discovery, policy, subset, origin, outlierDetection, connectTimeout, limits } = cluster;
  return detailOf({
    type: extension || discovery,
    policy,
    subset,
    from: origin,
    limits: limitTexts(limits),
    outlierDetection: outlierDetection === undefined ? "" : outlierText(outlierDetection),
    connectTimeout: connectTimeout === undefined ? "" : `${connectTimeout}ms`,
  });
}

const PASSTHROUGH: ReadonlySet<string> = new Set(["PassthroughCluster", "PassthroughClusterIpv6"]);
const INBOUND_PASSTHROUGH: ReadonlySet<string> = new Set([
  "InboundPassthroughCluster",
  "InboundPassthroughClusterIpv4",
  "InboundPassthroughClusterIpv6",
]);

/** Returns the limits that are neither Envoy's default nor Istio's default (no limit). */
function limitTexts(limits: Cluster["limits"]): string[] {
  return (["connections", "pending", "requests", "retries"] as const).flatMap((name) =>
    limits[name] < NO_LIMIT && limits[name] !== DEFAULT_LIMITS[name] ? [`${name} ${limits[name]}`] : []
  );
}

function describe({ name, discovery, subset, origin, limits, outlierDetection }: Cluster): string {
  if (PASSTHROUGH.has(name)) {
    return "no service of the mesh has this address: Envoy forwards the connection to its original address";
  }
  if (INBOUND_PASSTHROUGH.has(name)) {
    return "no service has this port of the pod: Envoy forwards the connection to its original port";
  }
  const parts = [
    subset === "" ? "" : `subset ${subset}`,
    origin === "" ? "" : `settings of ${origin}`,
    discovery === "original-dst" ? "Envoy connects to the original address" : "",
    limitTexts(limits).length === 0 ? "" : `circuit breaker at ${limitTexts(limits).join(", ")}`,
    outlierDetection === undefined ? "" : `outlier detection ${outlierText(outlierDetection)}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? `cluster ${name}` : parts.join(", ");
}

/** Istio's value for "no limit". */
const NO_LIMIT = 4_294_967_295;

function outlierText(
  { consecutive5xx, consecutiveGateway, baseEjection, maxEjectionPercent }: NonNullable<Cluster["outlierDetection"]>,
): string {
  const after = consecutive5xx === undefined || consecutive5xx === 0
    ? consecutiveGateway === undefined ? "errors" : `${consecutiveGateway} gateway errors`
    : `${consecutive5xx} errors`;
  const time = baseEjection === undefined ? "" : ` for ${baseEjection}ms`;
  return `ejects after ${after}${time}, at most ${maxEjectionPercent}% of hosts`;
}

function endpointStep(facts: Facts, cluster: Cluster, found: Found, { direction }: Asked): Step {
  const { taken, all, isKnown, unhealthy } = found;
  const detail = endpointDetail(found);
  if (!isKnown) return unsure("endpoint", { message: found.why, detail });
  if (taken.length === 0) {
    const message = all.length === 0
      ? `${cluster.name} has no endpoints: 503 UH`
      : `none of the ${all.length} endpoints of ${cluster.name} is healthy (${unhealthy[0] ?? ""}): 503 UH`;
    return refusing(
      "endpoint",
      { message, detail },
      fixOf(cluster, all.length),
      emptyCause(facts, cluster, all.length),
    );
  }
  return takenStep(cluster, found, direction);
}

/** Returns the resource that leaves a cluster without usable endpoints. */
function emptyCause({ domain }: Facts, cluster: Cluster, all: number): Cause | undefined {
  const { host, subset } = clusterParts(cluster.name);
  if (all > 0) return cluster.outlierDetection === undefined ? undefined : policyCause(cluster, "outlierDetection");
  if (subset !== "") {
    return causeIn(cluster.origin, "DestinationRule", "spec.subsets.labels", { by: "labels", subset });
  }
  if (isService(host, domain)) return serviceCause(host, "spec.selector");
  if (host === "") return undefined;
  return { ...causeOf("ServiceEntry", "spec.endpoints", { by: "host", host, port: 0 }), namespace: cluster.namespace };
}

/** The step for endpoints that load balancing can choose. On the inbound side, the port station checks the sockets. */
function takenStep(cluster: Cluster, found: Found, direction: Asked["direction"]): Step {
  const { taken, isPanic, unhealthy } = found;
  const addresses = taken.map(({ address }) => address);
  const detail = endpointDetail(found);
  if (cluster.discovery === "original-dst" && direction === "outbound") {
    const message = `Envoy connects to ${
      listed(addresses)
    } without service discovery: it is unknown whether a process listens there`;
    return unsure("endpoint", { name: taken[0]?.address ?? "", message, detail });
  }
  if (found.why !== "") return unsure("endpoint", { message: clauses(listed(addresses), found.why), detail });
  const concern = isPanic
    ? "too few endpoints are healthy: Envoy uses unhealthy endpoints too (panic mode)"
    : unhealthy.length > 0
    ? `not used: ${unhealthy.slice(0, 3).join(", ")}`
    : "";
  const result: StationResult = concern === "" ? "ok" : "warning";
  return passing("endpoint", {
    name: taken[0]?.address ?? "",
    result,
    message: clauses(listed(addresses), ...elsewhereTexts(found).slice(0, MAX_SHOWN), concern),
    detail,
  });
}

/** Describes endpoints outside of the client's cluster, such as `192.0.2.7:15443 in the cluster "west"`. */
function elsewhereTexts({ taken }: Found): string[] {
  return taken.flatMap(({ address, elsewhere = "" }) => elsewhere === "" ? [] : [`${address} ${elsewhere}`]);
}

function endpointDetail(found: Found): Detail {
  const { taken, all, localities, loads, unhealthy } = found;
  return detailOf({
    elsewhere: elsewhereTexts(found),
    taken: taken.length,
    all: all.length,
    localities,
    loads: loads.length <= 1 ? [] : loads.map((load, priority) => `priority ${priority}: ${load}%`),
    unhealthy: unhealthy.slice(0, MAX_SHOWN),
  });
}

function fixOf({ name }: Cluster, all: number): string {
  const { subset, host } = clusterParts(name);
  if (all > 0) return "check the pods behind the endpoints: their readiness and outlier detection";
  if (host === "") return "add endpoints to the cluster";
  return subset === ""
    ? `make pods of the Service "${host}" ready: compare its selector and targetPort with the pods`
    : `add the labels of the subset "${subset}" of ${host} to ready pods`;
}
