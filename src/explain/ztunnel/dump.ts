/**
 * Reads ztunnel's configuration (`/config_dump` on its port 15000): workloads, services, policies and certificates of
 * the mesh. The format is in istio/istio, istioctl/pkg/writer/ztunnel/configdump/api.go. Before 1.24, lists are maps.
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
  /** Whether ztunnel or a proxy accepts HBONE tunnels for the workload; `false`: plain TCP. */
  readonly isHbone: boolean;
  readonly identity: string;
  /** Address or host of the workload's waypoint; empty without a waypoint. */
  readonly waypoint: string;
  /** Address or host of the gateway to the workload's network; empty without a gateway. */
  readonly networkGateway: string;
  readonly network: string;
  readonly isHealthy: boolean;
  /** `NAMESPACE/NAME` of the policies that select the workload. */
  readonly policies: readonly string[];
}

export interface Service {
  readonly host: string;
  readonly addresses: readonly string[];
  readonly ports: ReadonlyMap<number, number>;
  readonly waypoint: string;
  readonly endpoints: readonly ServiceEndpoint[];
  /** Whether the service sends to unready pods too (`publishNotReadyAddresses`). */
  readonly takesUnhealthy: boolean;
  /** `Strict` sends only to nearby endpoints (`internalTrafficPolicy: Local`), `Passthrough` to the address itself. */
  readonly mode: string;
}

interface ServiceEndpoint {
  readonly workload: string;
  /** Maps ports of the Service to ports of the pod. */
  readonly ports: ReadonlyMap<number, number>;
}

export interface ZtunnelPolicy {
  readonly name: string;
  readonly namespace: string;
  readonly scope: string;
  readonly isDeny: boolean;
  /** Whether ztunnel only logs the result of the policy, without enforcement. */
  readonly isDryRun: boolean;
  /** Rules: lists of clauses, each a list of matches. A rule holds if one match holds in every non-empty clause. */
  readonly rules: readonly (readonly (readonly ValueMap[])[])[];
}

export interface ZtunnelCertificate {
  readonly identity: string;
  /** `Available`, `Initializing`, or `Unavailable: ` and the reason. */
  readonly state: string;
  /** Leaf certificate in PEM. `roots` is in PEM too. */
  readonly leaf: string;
  readonly roots: readonly string[];
}

export interface ZtunnelDump {
  readonly workloads: readonly Workload[];
  readonly services: readonly Service[];
  readonly policies: readonly ZtunnelPolicy[];
  readonly certificates: readonly ZtunnelCertificate[];
}

/** Returns the dump of a snapshot, or why it is absent. */
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

/** Returns the workload of a pod; `undefined` if ztunnel does not know the pod. */
export function workloadOf(
  { workloads }: ZtunnelDump,
  pod: { readonly namespace: string; readonly name: string },
): Workload | undefined {
  return workloads.find(({ namespace, name }) => namespace === pod.namespace && name === pod.name);
}

/** Returns the services that have the workload as an endpoint. */
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

/** Returns the address or host under a key, from `NETWORK/ADDRESS` (the network can be empty) or `NAMESPACE/HOST`. */
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
