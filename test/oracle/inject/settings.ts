/** Variations of values and mesh configurations. The name of each says what it changes. */
import { parseYaml } from "../../../src/yaml/mod.ts";
import { SHARED } from "../../support/test_when.ts";
import type { Settings } from "./question.ts";

const SETTINGS = `${SHARED}/cases/inject/settings`;

type Data = { readonly [key: string]: unknown };

const VALUES: Readonly<Record<string, Data>> = {
  cni: { pilot: { cni: { enabled: true } } },
  "cni-multus": { pilot: { cni: { enabled: true, provider: "multus" } } },
  hold: { global: { proxy: { holdApplicationUntilProxyStarts: true } } },
  "status-port-0": { global: { proxy: { statusPort: 0 } } },
  "log-as-json": { global: { logAsJson: true, logging: { level: "default:debug,wasm:info" } } },
  nftables: { global: { nativeNftables: true, proxy_init: { forceApplyIptables: true } } },
  privileged: { global: { proxy: { privileged: true } } },
  "mtls-certs": { global: { mountMtlsCerts: true } },
  "pull-secrets": { global: { imagePullSecrets: ["one", "two"], imagePullPolicy: "Always" } },
  multicluster: { global: { multiCluster: { clusterName: "east" }, network: "net-1", meshID: "m1" } },
  "ports-and-ranges": {
    global: {
      proxy: {
        includeIPRanges: "10.0.0.0/8",
        excludeIPRanges: "10.1.0.0/16",
        excludeInboundPorts: "1,2",
        excludeOutboundPorts: "3",
        includeOutboundPorts: "4",
        includeInboundPorts: "",
      },
    },
  },
  "image-types": { global: { variant: "distroless", tag: "1.2-debug", proxy: { image: "own/proxy:9" } } },
  "tag-number": { global: { tag: 1.10, hub: "h", variant: "debug" } },
  tracers: { global: { proxy: { tracer: "datadog" }, caAddress: "ca:15012", caName: "GkeWorkloadCertificate" } },
  lifecycle: { global: { proxy: { lifecycle: { preStop: { exec: { command: ["sleep", "5"] } } } } } },
  security: {
    global: {
      proxy: { seccompProfile: { type: "RuntimeDefault" }, capNetBindService: "true", outlierLogPath: "/dev/stdout" },
      platform: "openshift",
    },
  },
  "no-rewrite": { sidecarInjectorWebhook: { rewriteAppHTTPProbe: false } },
  "no-startup-probe": { global: { proxy: { startupProbe: { enabled: false }, logLevel: "", componentLogLevel: "" } } },
  "pilot-env": { pilot: { env: { A: "1", ENABLE_X: "true" } }, revision: "v2" },
  "sts-and-trust": {
    global: { sts: { servicePort: 1234 }, trustDomain: "td", trustBundleName: "tb", sds: { token: { aud: "x" } } },
  },
};

const MESH: Readonly<Record<string, string>> = {
  tproxy: "defaultConfig:\n  interceptionMode: TPROXY\n",
  none: "defaultConfig:\n  interceptionMode: NONE\n",
  "mesh-hold": "defaultConfig:\n  holdApplicationUntilProxyStarts: true\n",
  "mesh-status-port": "defaultConfig:\n  statusPort: 9999\n",
  "mesh-metadata":
    'defaultConfig:\n  proxyMetadata:\n    B: "2"\n    A: "1"\n    ISTIO_META_ENABLE_HBONE: "true"\n    ENVOY_SECURE_MERGED_METRICS_PORT: "15091"\n',
  "mesh-tracing":
    "defaultConfig:\n  concurrency: 4\n  tracing:\n    sampling: 10\n    zipkin:\n      address: z:9411\n    tlsSettings:\n      mode: SIMPLE\n      caCertificates: /etc/ca.pem\n",
  "mesh-image":
    "defaultConfig:\n  image:\n    imageType: debug\n  terminationDrainDuration: 30s\n  drainDuration: 100s\n",
  "no-merge": "enablePrometheusMerge: false\n",
  localhost: "inboundTrafficPolicy:\n  mode: LOCALHOST\ntrustDomain: td.example\nrootNamespace: mesh\n",
  otel:
    "extensionProviders:\n- name: o\n  opentelemetry:\n    service: a.b\n    port: 4317\n    serviceAttributeEnrichment: OTEL_SEMANTIC_CONVENTIONS\n",
  empty: "",
};

/** The configuration of the shared cases. */
export function sharedSettings(): Settings {
  const read = (name: string) => Deno.readTextFileSync(`${SETTINGS}/${name}`);
  return { config: read("config.yaml"), values: read("values.yaml"), mesh: read("mesh.yaml") };
}

/** Returns all variations of a configuration. The first one changes nothing. */
export function variations(base: Settings): (readonly [string, Settings])[] {
  const values = parseYaml(base.values);
  return [
    ["default", base],
    ...Object.entries(VALUES).map(([name, change]) =>
      [name, { ...base, values: JSON.stringify(merged(values, change)) }] as const
    ),
    ...Object.entries(MESH).map(([name, mesh]) => [name, { ...base, mesh }] as const),
  ];
}

function merged(base: unknown, change: unknown): unknown {
  if (!isData(base) || !isData(change)) return change;
  const result: Record<string, unknown> = { ...base };
  for (const [key, value] of Object.entries(change)) result[key] = merged(base[key], value);
  return result;
}

function isData(value: unknown): value is Data {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
