/**
 * ztunnel's configuration (`/config_dump` on its port 15000): workloads, services, policies and certificates of the mesh,
 * as istio/istio's istioctl/pkg/writer/ztunnel/configdump/api.go reads them. Lists are maps in releases before 1.24.
 */
import { isMap, listAt, mapAt, mapsAt, textAt, textsAt, type Value, type ValueMap } from "../../base/value.ts";
import { flagAt } from "../envoy/message.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";

export interface Workload {
  readonly uid: string;
  readonly name: string;
  readonly namespace: string;
  readonly addresses: readonly string[];
  /** ztunnel or a proxy takes tunnels for it (HBONE); `false`: plain TCP. */
  readonly isHbone: boolean;
  /** SPIFFE URI. */
  readonly identity: string;
  /** Address or host of its waypoint; empty without one. */
  readonly waypoint: string;
  /** Address or host of the gateway of its network; empty without one. */
  readonly networkGateway: string;
  readonly network: string;
  readonly isHealthy: boolean;
  /** `NAMESPACE/NAME` of policies that select it. */
  readonly policies: readonly string[];
}

export interface Service {
  readonly host: string;
  readonly addresses: readonly string[];
  readonly ports: ReadonlyMap<number, number>;
  readonly waypoint: string;
  readonly endpoints: readonly ServiceEndpoint[];
  /** It sends to pods that are not ready too (`publishNotReadyAddresses`). */
  readonly takesUnhealthy: boolean;
  /** `Strict`: only to near endpoints (`internalTrafficPolicy: Local`); `Passthrough`: to the address itself. */
  readonly mode: string;
}

interface ServiceEndpoint {
  readonly workload: string;
  /** The pod's ports by the Service's. */
  readonly ports: ReadonlyMap<number, number>;
}

export interface ZtunnelPolicy {
  readonly name: string;
  readonly namespace: string;
  readonly scope: string;
  readonly isDeny: boolean;
  /** ztunnel logs what it would do, and does not do it. */
  readonly isDryRun: boolean;
  /** One of the rules must match; in it all clauses, and of each clause that is not empty one match. */
  readonly rules: readonly (readonly (readonly ValueMap[])[])[];
}

export interface ZtunnelCertificate {
  readonly identity: string;
  /** `Available`, `Initializing`, or `Unavailable: ` and why. */
  readonly state: string;
  /** Leaf and roots in PEM. */
  readonly leaf: string;
  readonly roots: readonly string[];
}

export interface ZtunnelDump {
  readonly workloads: readonly Workload[];
  readonly services: readonly Service[];
  readonly policies: readonly ZtunnelPolicy[];
  readonly certificates: readonly ZtunnelCertificate[];
}

/** The dump of a snapshot, or why there is none. */
export function ztunnelDump({ parts }: Pick<Snapshot, "parts">): ZtunnelDump | string {
  const { value, part } = jsonOf(parts["ztunnel.json"], "ztunnel.json");
  if (value === undefined) return part.message;
  return {
    workloads: entriesAt(value, "workloads").map(readWorkload),
    services: entriesAt(value, "services").map(readService),
    policies: entriesAt(value, "policies").map(readPolicy),
    certificates: entriesAt(value, "certificates").map(readCertificate),
  };
}

/** The workload of a pod. */
export function workloadOf(
  { workloads }: ZtunnelDump,
  pod: { readonly namespace: string; readonly name: string },
): Workload | undefined {
  return workloads.find(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
}

/** The services that have the workload as an endpoint. */
export function servicesOf({ services }: ZtunnelDump, { uid }: Workload): readonly Service[] {
  return services.filter(({ endpoints }) => endpoints.some(({ workload }) => workload === uid));
}

function entriesAt(dump: ValueMap, key: string): readonly ValueMap[] {
  const value = dump[key];
  return isMap(value) ? Object.values(value).filter(isMap) : mapsAt(dump, key);
}

function readWorkload(map: ValueMap): Workload {
  const [namespace, account] = [textAt(map, "namespace"), textAt(map, "serviceAccount")];
  return {
    uid: textAt(map, "uid"),
    name: textAt(map, "name"),
    namespace,
    addresses: textsAt(map, "workloadIps"),
    isHbone: textAt(map, "protocol") === "HBONE",
    identity: `spiffe://${textAt(map, "trustDomain") || "cluster.local"}/ns/${namespace}/sa/${account}`,
    waypoint: destinationAt(map, "waypoint"),
    networkGateway: destinationAt(map, "networkGateway"),
    network: textAt(map, "network"),
    isHealthy: textAt(map, "status") !== "Unhealthy",
    policies: textsAt(map, "authorizationPolicies"),
  };
}

function readService(map: ValueMap): Service {
  const balancer = mapAt(map, "loadBalancer");
  return {
    takesUnhealthy: textAt(balancer, "healthPolicy") === "AllowAll",
    mode: textAt(balancer, "mode"),
    host: textAt(map, "hostname"),
    addresses: textsAt(map, "vips").map(withoutNetwork),
    ports: portsAt(map, "ports"),
    waypoint: destinationAt(map, "waypoint"),
    endpoints: entriesAt(map, "endpoints").map((each) => ({
      workload: textAt(each, "workloadUid"),
      ports: portsAt(each, "port"),
    })),
  };
}

/** `NETWORK/ADDRESS` or `NAMESPACE/HOST`; the network may be empty. */
function destinationAt(map: ValueMap, key: string): string {
  return withoutNetwork(textAt(mapAt(map, key), "destination"));
}

function withoutNetwork(text: string): string {
  return text.slice(text.indexOf("/") + 1);
}

function portsAt(map: ValueMap, key: string): ReadonlyMap<number, number> {
  return new Map(Object.entries(mapAt(map, key)).map(([port, target]) => [Number(port), Number(target)]));
}

function readPolicy(map: ValueMap): ZtunnelPolicy {
  return {
    name: textAt(map, "name"),
    namespace: textAt(map, "namespace"),
    scope: textAt(map, "scope"),
    isDeny: textAt(map, "action") === "Deny",
    isDryRun: flagAt(map, "dryRun"),
    rules: listAt(map, "rules").map((rule) => lists(rule).map((clause) => lists(clause).filter(isMap))),
  };
}

function lists(value: Value): readonly Value[] {
  return Array.isArray(value) ? value : [];
}

function readCertificate(map: ValueMap): ZtunnelCertificate {
  const [leaf = {}] = mapsAt(map, "certChain");
  return {
    identity: textAt(map, "identity"),
    state: textAt(map, "state"),
    leaf: textAt(leaf, "pem"),
    roots: mapsAt(map, "rootCerts").map((each) => textAt(each, "pem")),
  };
}
