/** Reads a snapshot into typed form. */
import { mapAt, textAt } from "../../base/value.ts";
import type { AbsentPart, Snapshot } from "../snapshot/snapshot.ts";
import { jsonOf } from "../snapshot/json_part.ts";
import { type EnvoyConfig, nodeOf, readEnvoy } from "../envoy/config.ts";
import type { ProbedSnapshot } from "../evidence.ts";
import { type KernelRules, kernelRules } from "../kernel/rules.ts";
import { type NameTable, nameTableOf } from "../names/resolve.ts";
import { type Pod, podOf } from "../pod.ts";
import type { Workload } from "../resources/cause.ts";
import { type ZtunnelDump, ztunnelDump } from "../ztunnel/dump.ts";
import { certificateOf } from "../summary/certificate.ts";
import type { Certificate } from "../summary/pod_summary_schema.ts";

export interface Facts {
  readonly snapshot: ProbedSnapshot;
  readonly pod: Pod | undefined;
  /** Envoy's configuration; `undefined` if unreadable, with the reason in `absent`. */
  readonly config: EnvoyConfig | undefined;
  readonly absent: AbsentPart | undefined;
  readonly kernel: KernelRules;
  readonly names: NameTable | undefined;
  /** The workload's certificate in Envoy. */
  readonly certificate: Certificate;
  /** The pod's namespace and the cluster domain, such as `shop` and `cluster.local`. They complete short names. */
  readonly namespace: string;
  readonly domain: string;
  readonly addresses: readonly string[];
  /** The pod's labels and namespaces, to select the mesh resources that apply to it. */
  readonly workload: Workload;
  /** For a pod in ambient mode, the state of its ztunnel, or why the state is unknown. */
  readonly ztunnel: ZtunnelDump | string;
}

const DOMAIN = "cluster.local";

export function factsOf(snapshot: ProbedSnapshot): Facts {
  const pod = podOf(snapshot);
  const ztunnel = ztunnelDump(snapshot);
  const { config, absent } = readEnvoy(snapshot);
  const [address, domain] = placeOf(snapshot, config);
  const namespace = snapshot.pod.namespace || pod?.namespace || domain.split(".svc.")[0] || "";
  return {
    snapshot,
    pod,
    config,
    absent,
    kernel: kernelRules(snapshot, pod),
    names: nameTableOf(snapshot) ?? ztunnelNames(ztunnel),
    certificate: certificateOf(snapshot, config, ztunnel),
    namespace,
    workload: { namespace, labels: pod?.labels ?? {}, root: rootOf(config) },
    domain: domain.split(".svc.").slice(1).join(".svc.") || DOMAIN,
    addresses: pod !== undefined && pod.addresses.length > 0 ? pod.addresses : address === "" ? [] : [address],
    ztunnel,
  };
}

/** Returns the addresses of services by name, from the services that ztunnel knows. */
function ztunnelNames(ztunnel: ZtunnelDump | string): NameTable | undefined {
  if (typeof ztunnel === "string") return undefined;
  const { services } = ztunnel;
  const find = (name: string) => services.find(({ host }) => host === name);
  return {
    hosts: services.map(({ host }) => host),
    find,
    hostAt: (address, accepts) => services.find((each) => accepts(each.host) && each.addresses.includes(address))?.host,
  };
}

/** Returns the default root namespace: istiod's namespace in an address such as `istiod.istio-system.svc:15012`. */
function rootOf(config: EnvoyConfig | undefined): string {
  const proxyConfig = mapAt(mapAt(nodeOf(config), "metadata"), "PROXY_CONFIG");
  return /^[^.]+\.([^.:]+)\.svc\b/.exec(textAt(proxyConfig, "discoveryAddress"))?.[1] ?? "istio-system";
}

/** Returns the address and cluster domain in a node ID such as `sidecar~10.1.0.9~web-1.shop~shop.svc.cluster.local`. */
function placeOf(snapshot: Snapshot, config: EnvoyConfig | undefined): readonly [address: string, domain: string] {
  const info = jsonOf(snapshot.parts["server_info.json"], "server_info.json").value ?? {};
  const ids = [mapAt(info, "node"), nodeOf(config)].map((node) => textAt(node, "id"));
  const [, address = "", , domain = ""] = (ids.find((id) => id.includes("~")) ?? "").split("~");
  return [address, domain];
}
