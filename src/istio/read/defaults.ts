import { copyMap } from "../../base/values/mod.ts";
import type { ValueMap } from "../../base/value.ts";
import type { MeshConfig } from "../config.ts";
import type { Era } from "../era.ts";

/** Defaults of every release. */
const PROXY = {
  binaryPath: "/usr/local/bin/envoy",
  serviceCluster: "istio-proxy",
  proxyAdminPort: 15000,
  statNameLength: 189,
};

const ISTIOD = {
  ...PROXY,
  configPath: "./etc/istio/proxy",
  drainDuration: "45s",
  terminationDrainDuration: "5s",
  discoveryAddress: "istiod.istio-system.svc:15012",
  controlPlaneAuthPolicy: "MUTUAL_TLS",
  statusPort: 15020,
};

/** `mesh.DefaultProxyConfig` of the releases. */
const PROXIES: Readonly<Record<Era, ValueMap>> = {
  current: ISTIOD,
  "1.8": {
    ...ISTIOD,
    parentShutdownDuration: "60s",
    concurrency: 2,
    tracing: { zipkin: { address: "zipkin.istio-system:9411" } },
    envoyMetricsService: {},
    envoyAccessLogService: {},
  },
  "1.1": {
    ...PROXY,
    configPath: "/etc/istio/proxy",
    drainDuration: "2s",
    parentShutdownDuration: "3s",
    connectTimeout: "1s",
    discoveryAddress: "istio-pilot:15007",
    controlPlaneAuthPolicy: "NONE",
  },
};

const COMMON_MESH = {
  enableTracing: true,
  ingressService: "istio-ingressgateway",
  ingressControllerMode: "STRICT",
  ingressClass: "istio",
  rootNamespace: "istio-system",
  proxyListenPort: 15001,
};

const SINCE_1_2 = {
  ...COMMON_MESH,
  protocolDetectionTimeout: "0s",
  trustDomain: "cluster.local",
  enableAutoMtls: true,
  outboundTrafficPolicy: { mode: "ALLOW_ANY" },
  localityLbSetting: { enabled: true },
  connectTimeout: "10s",
  defaultServiceExportTo: ["*"],
  defaultVirtualServiceExportTo: ["*"],
  defaultDestinationRuleExportTo: ["*"],
  enablePrometheusMerge: true,
};

/** `mesh.DefaultMeshConfig` of the releases, without `defaultConfig`. */
const MESHES: Readonly<Record<Era, ValueMap>> = {
  current: {
    ...SINCE_1_2,
    proxyInboundListenPort: 15006,
    inboundTrafficPolicy: { mode: "PASSTHROUGH" },
    dnsRefreshRate: "60s",
    defaultProviders: {},
    extensionProviders: [
      { name: "prometheus", prometheus: {} },
      { name: "stackdriver", stackdriver: {} },
      { name: "envoy", envoyFileAccessLog: { path: "/dev/stdout" } },
    ],
  },
  "1.8": { ...SINCE_1_2, dnsRefreshRate: "5s" },
  "1.1": { ...COMMON_MESH, accessLogFile: "/dev/stdout", connectTimeout: "1s", dnsRefreshRate: "5s" },
};

/** The default mesh configuration of an era, a fresh copy. Source: Istio's ApplyMeshConfigDefaults. */
export function defaultsOf(era: Era): MeshConfig {
  return { era, data: copyMap({ ...MESHES[era], defaultConfig: PROXIES[era] }) };
}
