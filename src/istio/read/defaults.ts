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

const UNTIL_1_21 = { ...ISTIOD, tracing: { zipkin: { address: "zipkin.istio-system:9411" } } };
const UNTIL_1_17 = { ...UNTIL_1_21, concurrency: 2 };
const UNTIL_1_16 = { ...UNTIL_1_17, parentShutdownDuration: "60s" };

/** `mesh.DefaultProxyConfig` of each era. */
const PROXIES: Readonly<Record<Era, ValueMap>> = {
  current: ISTIOD,
  "1.21": UNTIL_1_21,
  "1.17": UNTIL_1_17,
  "1.16": UNTIL_1_16,
  "1.8": {
    ...UNTIL_1_16,
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

/**
 * Defaults of 1.9 to 1.17. A field in which these releases differ has the value of the last release, which is good
 * enough because templates do not read the field.
 */
const SINCE_1_9 = {
  ...SINCE_1_2,
  dnsRefreshRate: "60s",
  defaultProviders: {},
  extensionProviders: [
    { name: "prometheus", prometheus: {} },
    { name: "stackdriver", stackdriver: {} },
    { name: "envoy", envoyFileAccessLog: { path: "/dev/stdout" } },
  ],
};
const SINCE_1_18 = { ...SINCE_1_9, proxyInboundListenPort: 15006 };

/** `mesh.DefaultMeshConfig` of each era, without `defaultConfig`. */
const MESHES: Readonly<Record<Era, ValueMap>> = {
  current: { ...SINCE_1_18, inboundTrafficPolicy: { mode: "PASSTHROUGH" } },
  "1.21": SINCE_1_18,
  "1.17": SINCE_1_9,
  "1.16": SINCE_1_9,
  "1.8": { ...SINCE_1_2, dnsRefreshRate: "5s" },
  "1.1": { ...COMMON_MESH, accessLogFile: "/dev/stdout", connectTimeout: "1s", dnsRefreshRate: "5s" },
};

/** Returns a new copy of an era's default mesh configuration. Source: Istio's ApplyMeshConfigDefaults. */
export function defaultsOf(era: Era): MeshConfig {
  return { era, data: copyMap({ ...MESHES[era], defaultConfig: PROXIES[era] }) };
}
