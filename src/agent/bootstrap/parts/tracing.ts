/** Builds the tracing settings. Source: Istio's bootstrap.getProxyConfigOptions and its bootstrap template. */
import { posix } from "node:path";
import { isMap, mapAt, textAt } from "../../../base/value.ts";
import type { AgentSettings } from "../../settings/read.ts";
import { envoyType } from "./proto_types.ts";

export interface TracerKind {
  readonly field: "zipkin" | "lightstep" | "datadog";
  readonly cluster: string;
  readonly isHttp2: boolean;
  readonly dnsRefreshRate?: string;
  readonly driver: string;
  readonly config: (settings: AgentSettings) => { readonly [field: string]: string | boolean };
}

const KINDS: readonly TracerKind[] = [
  {
    field: "zipkin",
    cluster: "zipkin",
    isHttp2: false,
    dnsRefreshRate: "30s",
    driver: "envoy.tracers.zipkin",
    config: () => ({
      "@type": envoyType("config.trace.v3.ZipkinConfig"),
      collector_cluster: "zipkin",
      collector_endpoint: "/api/v2/spans",
      collector_endpoint_version: "HTTP_JSON",
      trace_id_128bit: true,
      shared_span_context: false,
    }),
  },
  {
    field: "lightstep",
    cluster: "lightstep",
    isHttp2: true,
    driver: "envoy.tracers.lightstep",
    config: (settings) => ({
      "@type": envoyType("config.trace.v3.LightstepConfig"),
      collector_cluster: "lightstep",
      access_token_file: lightstepTokenFile(settings),
    }),
  },
  {
    field: "datadog",
    cluster: "datadog_agent",
    isHttp2: false,
    driver: "envoy.tracers.datadog",
    config: ({ node }) => ({
      "@type": envoyType("config.trace.v3.DatadogConfig"),
      collector_cluster: "datadog_agent",
      service_name: node.cluster,
    }),
  },
];

/** Returns the configured collector; `undefined` if there is none, or if Envoy has no driver for it. */
export function tracerOf({ proxyConfig }: AgentSettings) {
  const settings = mapAt(proxyConfig.data, "tracing");
  const kind = KINDS.find(({ field }) => isMap(settings[field]));
  if (kind === undefined) return undefined;
  const tracer = mapAt(settings, kind.field);
  const [address, accessToken] = [textAt(tracer, "address"), textAt(tracer, "accessToken")];
  return { kind, address, accessToken, tlsSettings: settings["tlsSettings"] };
}

/** Builds `tracing`; returns an empty object if no collector is configured. */
export function tracing(settings: AgentSettings) {
  const kind = tracerOf(settings)?.kind;
  return kind === undefined ? {} : { tracing: { http: { name: kind.driver, typed_config: kind.config(settings) } } };
}

/** Returns the path of LightStep's token file. */
export function lightstepTokenFile({ envoy }: AgentSettings): string {
  return posix.join(envoy.configPath, "lightstep_access_token.txt");
}
