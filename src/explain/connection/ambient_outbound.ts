/**
 * A connection out of a pod in ambient mode. istio-cni's rules redirect it to the ztunnel of the pod's node. ztunnel
 * forwards it to the waypoint of the Service or to an endpoint, through an HBONE tunnel if the endpoint supports HBONE,
 * else over TCP.
 */
import { counted } from "../../base/text/mod.ts";
import { joinHostPort } from "../../golang/net/mod.ts";
import type { Service, Workload, ZtunnelDump } from "../ztunnel/dump.ts";
import { workloadOf } from "../ztunnel/dump.ts";
import type { Facts } from "./facts.ts";
import { type Original, originalText } from "./listener_step.ts";
import {
  type ConnectionPath,
  detailOf,
  listed,
  passing,
  refusing,
  type Step,
  unknowing,
  unsure,
} from "./connection_path.ts";

/** Port on which ztunnel and waypoints accept HBONE tunnels. */
const HBONE_PORT = 15008;

/** Adds the kernel's station and all stations after it. */
export function ambientOutbound(path: ConnectionPath, facts: Facts, original: Original): void {
  path.add(passing("kernel", {
    source: "planned",
    message: "ambient mode: istio-cni's rules in the pod's network namespace redirect it to port 15001 of ztunnel",
  }));
  if (original.address === undefined) return;
  const { ztunnel, certificate } = facts;
  if (typeof ztunnel === "string") {
    path.add(unknowing("ztunnel", { message: `the state of the ztunnel of its node is unknown: ${ztunnel}` }));
    return;
  }
  const own = workloadOf(ztunnel, facts.snapshot.pod);
  const upstream = upstreamOf(ztunnel, original, own);
  if (!path.add(upstream.step)) return;
  path.cluster(upstream.name, 100);
  path.endpoints(upstream.ends.map(({ address }) => ({ address, health: "healthy" })));
  if (!path.add(endpointStep(upstream))) return;
  path.add(tlsStep(upstream.ends, certificate));
}

/** The address to which ztunnel connects, and whether it opens an HBONE tunnel there. */
interface TunnelEnd {
  readonly address: string;
  readonly isTunnel: boolean;
}

interface Upstream {
  readonly step: Step;
  readonly name: string;
  readonly ends: readonly TunnelEnd[];
  readonly unhealthy: number;
}

function upstreamOf(dump: ZtunnelDump, original: Original, own: Workload | undefined): Upstream {
  const { address = "", port } = original;
  const service = dump.services.find(({ addresses }) => addresses.includes(address));
  if (service !== undefined) return ofService(dump, service, port, own);
  const workload = dump.workloads.find(({ addresses }) => addresses.includes(address));
  const name = originalText(original);
  if (workload === undefined) {
    const message =
      `the ztunnel of its node knows no service or workload at ${name} and forwards the connection there; ` +
      "it is unknown whether a process listens there";
    return nowhere(name, unknowing("ztunnel", { message }));
  }
  if (workload.waypoint !== "") return ofWaypoint(dump, name, workload.waypoint, own);
  const pod = `${workload.namespace}/${workload.name}`;
  const step = passing("ztunnel", { name: workload.name, message: `${name} is the pod ${pod}` });
  return { step, name, ends: [endOf(workload, port, own)], unhealthy: 0 };
}

function ofService(dump: ZtunnelDump, service: Service, port: number, own: Workload | undefined): Upstream {
  const { host, ports, waypoint, endpoints, takesUnhealthy, mode } = service;
  const name = `${host}:${port}`;
  if (!ports.has(port)) {
    const known = [...ports.keys()].join(", ");
    const message = `${host} has only the ports ${known}: it is unknown whether a process listens on port ${port}`;
    return nowhere(name, unknowing("ztunnel", { name: host, message }));
  }
  if (waypoint !== "") return ofWaypoint(dump, name, waypoint, own);
  if (mode === "Passthrough") {
    const message =
      `${name} is a passthrough service without endpoints: it is unknown whether a process listens at its address`;
    return nowhere(name, unknowing("ztunnel", { name: host, message }));
  }
  const all = endpoints.flatMap((endpoint) => {
    const workload = dump.workloads.find(({ uid }) => uid === endpoint.workload);
    const target = endpoint.ports.get(port);
    return workload === undefined || target === undefined ? [] : [{ workload, target }];
  });
  const healthy = all.filter(({ workload }) => workload.isHealthy || takesUnhealthy);
  const message = `the ztunnel of its node knows ${name}, with ${counted(all.length, "endpoint")}`;
  const isFar = `${message}: it is unknown which of them internalTrafficPolicy allows`;
  return {
    step: mode === "Strict"
      ? unsure("ztunnel", { name: host, message: isFar })
      : passing("ztunnel", { name: host, message }),
    name,
    ends: healthy.map(({ workload, target }) => endOf(workload, target, own)),
    unhealthy: all.length - healthy.length,
  };
}

/** Returns the connection to a waypoint. `waypoint` is the host or the address of the waypoint's Service. */
function ofWaypoint(dump: ZtunnelDump, name: string, waypoint: string, own: Workload | undefined): Upstream {
  const gateway = dump.services.find(({ host, addresses }) => host === waypoint || addresses.includes(waypoint));
  if (gateway === undefined) {
    const message = `${name} has the waypoint ${waypoint}, which the ztunnel of its node does not know`;
    return nowhere(name, unknowing("ztunnel", { name, message }));
  }
  const upstream = ofService(dump, { ...gateway, waypoint: "" }, HBONE_PORT, own);
  const message = `${name} has the waypoint ${gateway.host}: the tunnel ends at the waypoint`;
  const step = passing("ztunnel", { name, message, detail: { waypoint: gateway.host } });
  return { ...upstream, step, name, ends: upstream.ends.map((each) => ({ ...each, isTunnel: true })) };
}

function nowhere(name: string, step: Step): Upstream {
  return { step, name, ends: [], unhealthy: 0 };
}

/** Returns the address to connect to: the workload, or the gateway of its network if that network is remote. */
function endOf(workload: Workload, port: number, own: Workload | undefined): TunnelEnd {
  const { addresses: [address = ""], network, networkGateway, isHbone } = workload;
  const isRemote = own !== undefined && network !== own.network && networkGateway !== "";
  return isRemote
    ? { address: joinHostPort(networkGateway, HBONE_PORT), isTunnel: true }
    : { address: joinHostPort(address, port), isTunnel: isHbone };
}

function endpointStep({ name, ends, unhealthy }: Upstream): Step {
  const addresses = ends.map(({ address }) => address);
  if (addresses.length === 0) {
    const message = unhealthy === 0
      ? `${name} has no endpoints`
      : `none of the ${unhealthy} endpoints of ${name} is healthy`;
    const fix = "give the Service ready pods: compare its selector and targetPort with the pods";
    return refusing("endpoint", { message }, fix);
  }
  return passing("endpoint", {
    name: addresses[0] ?? "",
    message: listed(addresses),
    detail: detailOf({ taken: addresses.length, unhealthy }),
  });
}

function tlsStep(ends: readonly TunnelEnd[], { identity, result, message: why }: Facts["certificate"]): Step {
  const to = (tunnel: boolean) => ends.filter(({ isTunnel }) => isTunnel === tunnel).map(({ address }) => address);
  const [mutual, plain] = [to(true), to(false)];
  const detail = detailOf({ mutual, plain, tunnelTo: mutual });
  if (mutual.length === 0) {
    const message =
      "plain text: the endpoint does not support HBONE tunnels, so it is not in ambient mode and has no sidecar";
    return passing("tls", { message, detail });
  }
  if (result === "error") {
    const message = `a tunnel with mutual TLS, but without a valid certificate: ${why}`;
    const fix = "check the log of the ztunnel of this node: it cannot get the certificate";
    return refusing("tls", { message, detail }, fix);
  }
  if (result === "unknown") {
    const message = `a tunnel with mutual TLS, but it is unknown whether its certificate is valid: ${why}`;
    return unsure("tls", { message, detail });
  }
  const mixed = plain.length === 0 ? "" : "; some endpoints do not support tunnels and get plain text";
  return passing("tls", {
    result: mixed === "" ? "ok" : "warning",
    message: `a tunnel (HBONE) with mutual TLS as ${identity}${mixed}`,
    detail,
  });
}
