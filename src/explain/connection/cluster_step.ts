/** The stations of a cluster: the cluster itself, its endpoints, and the TLS to the endpoints. */
import type { Answer, Detail } from "../answer_schema.ts";
import { type Cluster, DEFAULT_LIMITS } from "../envoy/cluster.ts";
import type { EnvoyConfig } from "../envoy/config.ts";
import { closest } from "../../base/text/mod.ts";
import { clusterParts, isService } from "../names/services.ts";
import { type Cause, causeIn, causeOf, policyCause, writerCause } from "../resources/cause.ts";
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
  const isBlackHole = cluster.name === "BlackHoleCluster";
  const wrong = isBlackHole || PASSTHROUGH.test(cluster.name) ? wrongPort(facts, config, asked) : undefined;
  const last = wrong?.end === undefined && isBlackHole ? blackHole(facts, asked) : wrong;
  if (last?.end !== undefined) return { steps: [last], isKnown: true, endpoints: [] };
  const own = wrong ?? clusterStation(facts, config, cluster);
  const found = endpointsOf(config, cluster, asked);
  const steps = [own, endpointStep(facts, cluster, found, asked)];
  const isRefused = steps.some(({ end }) => end !== undefined);
  if (!isRefused) steps.push(...tlsSteps(facts, cluster, found, asked), ...tunnelSteps(facts, config, found.taken));
  return { steps, isKnown: true, endpoints: found.taken.map(({ address, health }) => ({ address, health })) };
}

/** Returns the TLS step for endpoints without a tunnel. Plain text in the pod needs no step. */
function tlsSteps(facts: Facts, cluster: Cluster, { taken }: Found, { direction }: Asked): Step[] {
  const isInside = direction === "inbound" && cluster.transport.kind === "plain" &&
    cluster.transportMatches.length === 0;
  const direct = taken.filter(({ tunnel }) => tunnel === undefined);
  const isTunneled = taken.length > 0 && direct.length === 0;
  return isInside || isTunneled ? [] : [tlsStep(facts, cluster, direct)];
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
  const detail = detailOf({ others: others.slice(0, MAX_SHOWN) });
  return refusing("cluster", { name, message, detail }, fix, missingDestination(clusterNames, name, origin));
}

/** Returns the cause if the resource of the route names a host or a subset that does not exist. */
function missingDestination(clusterNames: readonly string[], name: string, origin: string): Cause | undefined {
  const { subset, host } = clusterParts(name);
  if (host === "") return undefined;
  const known = clusterNames.map(clusterParts).filter(({ direction }) => direction === "outbound");
  const names = subset === ""
    ? known.map((each) => each.host)
    : known.filter((each) => each.host === host).map((each) => each.subset);
  const instead = closest(subset || host, [...new Set(names)].filter(Boolean));
  const field = `spec.http.route.destination.${subset === "" ? "host" : "subset"}`;
  return causeIn(origin, "VirtualService", field, { by: "destination", host, subset, instead: instead ?? "" });
}

function blackHole({ workload }: Facts, { original, direction }: Asked): Step {
  const name = "BlackHoleCluster";
  if (direction === "inbound") {
    const message = "BlackHoleCluster closes connections to the proxy's own ports";
    return refusing("cluster", { name, message }, "connect to a port of the application");
  }
  const message = `no service of the mesh has the address ${originalText(original)}, and outboundTrafficPolicy ` +
    "REGISTRY_ONLY sends unknown destinations to BlackHoleCluster";
  const fix =
    "create a ServiceEntry for the destination, or set outboundTrafficPolicy.mode of the Sidecar or the MeshConfig " +
    "to ALLOW_ANY";
  const cause = causeOf("Sidecar", "spec.outboundTrafficPolicy.mode", { by: "egress", workload, hosts: [] });
  return refusing("cluster", { name, message }, fix, cause);
}

function clusterStation({ workload }: Facts, { rejected }: EnvoyConfig, cluster: Cluster): Step {
  const { name, limits, origin } = cluster;
  const detail = clusterDetail(cluster);
  const closed = (["connections", "pending", "requests"] as const).find((key) => limits[key] === 0);
  if (closed !== undefined) {
    const message = `the circuit breaker limits ${closed} to 0: 503 UO`;
    const where = `spec.trafficPolicy.connectionPool of ${origin || "the DestinationRule"}${editing(origin)}`;
    const fix = `raise the limit of ${closed} in ${where}`;
    return refusing("cluster", { name, message, detail }, fix, policyCause(name, origin, "connectionPool"));
  }
  const refused = rejected.find((each) => each.name === name);
  if (refused === undefined) return passing("cluster", { name, message: describe(cluster), detail });
  const concern = `Envoy rejected its newest version and keeps the previous version: ${refused.why}`;
  const message = clauses(describe(cluster), concern);
  return {
    ...passing("cluster", { name, result: "warning", message, detail }),
    cause: writerCause(refused.why, workload),
  };
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

const PASSTHROUGH = /^PassthroughCluster(Ipv6)?$/;
const INBOUND_PASSTHROUGH = /^InboundPassthroughCluster(Ipv[46])?$/;

/** Returns the limits that are neither Envoy's default nor Istio's default (no limit). */
function limitTexts(limits: Cluster["limits"]): string[] {
  return (["connections", "pending", "requests", "retries"] as const).flatMap((name) =>
    limits[name] < NO_LIMIT && limits[name] !== DEFAULT_LIMITS[name] ? [`${name} ${limits[name]}`] : []
  );
}

function describe({ name, discovery, subset, origin, limits, outlierDetection }: Cluster): string {
  if (PASSTHROUGH.test(name)) {
    return "no service of the mesh has this address: Envoy forwards the connection to its original address";
  }
  if (INBOUND_PASSTHROUGH.test(name)) {
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
  const { taken, all, isKnown, unhealthy, why } = found;
  const detail = endpointDetail(found);
  if (!isKnown) return unsure("endpoint", { message: why, detail });
  if (taken.length > 0) return takenStep(cluster, found, direction);
  const message = all.length === 0
    ? `${cluster.name} has no endpoints: 503 UH`
    : `none of the ${all.length} endpoints of ${cluster.name} is healthy (${unhealthy[0] ?? ""}): 503 UH`;
  const fix = fixOf(cluster, all.length);
  return refusing("endpoint", { message, detail }, fix, emptyCause(facts, cluster, all.length));
}

/** Returns the resource that leaves a cluster without usable endpoints. */
function emptyCause({ domain }: Facts, cluster: Cluster, all: number): Cause | undefined {
  const { name, origin, outlierDetection } = cluster;
  const { host, subset } = clusterParts(name);
  if (all > 0) return outlierDetection === undefined ? undefined : policyCause(name, origin, "outlierDetection");
  if (subset !== "") return causeIn(origin, "DestinationRule", "spec.subsets.labels", { by: "labels", subset });
  if (isService(host, domain)) return serviceCause(host, "spec.selector");
  if (host === "") return undefined;
  return { ...causeOf("ServiceEntry", "spec.endpoints", { by: "host", host, port: 0 }), namespace: cluster.namespace };
}

/** The step for endpoints that load balancing can choose. On the inbound side, the port station checks the sockets. */
function takenStep({ discovery }: Cluster, found: Found, direction: Asked["direction"]): Step {
  const { taken, isPanic, unhealthy, why } = found;
  const [name = ""] = taken.map(({ address }) => address);
  const addresses = listed(taken.map(({ address }) => address));
  const detail = endpointDetail(found);
  if (discovery === "original-dst" && direction === "outbound") {
    const doubt = "it is unknown whether a process listens there";
    return unsure("endpoint", {
      name,
      message: `Envoy connects to ${addresses} without service discovery: ${doubt}`,
      detail,
    });
  }
  if (why !== "") return unsure("endpoint", { message: clauses(addresses, why), detail });
  const concern = isPanic
    ? "too few endpoints are healthy: Envoy uses unhealthy endpoints too (panic mode)"
    : unhealthy.length > 0
    ? `not used: ${unhealthy.slice(0, 3).join(", ")}`
    : "";
  const message = clauses(addresses, ...elsewhereTexts(found).slice(0, MAX_SHOWN), concern);
  return passing("endpoint", { name, result: concern === "" ? "ok" : "warning", message, detail });
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
