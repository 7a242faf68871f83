import type { CheckName } from "./checks.ts";
import { ANNOTATION, type AnnotationName } from "./names.ts";
import type { Era } from "../era.ts";

/** What is known of an annotation. */
export interface AnnotationInfo {
  /** What it does, for help texts. */
  readonly effect: string;
  /** The rule for its value, if Istio checks it in any era. */
  readonly check?: CheckName;
  /** The eras whose injector checks it; absent where `check` is. */
  readonly checkedIn?: readonly Era[];
  readonly deprecated?: true;
  /** What to use instead of a deprecated one. */
  readonly instead?: string;
}

const ALWAYS: readonly Era[] = ["1.1", "1.8", "current"];
const SINCE_1_2: readonly Era[] = ["1.8", "current"];
const TODAY: readonly Era[] = ["current"];
const LEGACY: readonly Era[] = ["1.1", "1.8"];
const LAST_LEGACY: readonly Era[] = ["1.8"];

/** Every annotation that injection knows. Source: istio.io/api annotation and Istio's validate.go of the releases. */
export const ANNOTATIONS: Readonly<Record<AnnotationName, AnnotationInfo>> = {
  [ANNOTATION.inject]: {
    effect: "whether the sidecar is injected",
    deprecated: true,
    instead: "the label sidecar.istio.io/inject",
  },
  [ANNOTATION.templates]: { effect: "templates to inject, a comma list" },
  [ANNOTATION.status]: { effect: "what was injected; written by injection" },
  [ANNOTATION.overrides]: { effect: "containers as they were before injection; written by injection" },
  [ANNOTATION.proxyConfig]: {
    effect: "proxy configuration of this pod, merged over that of the mesh",
    check: "proxyConfig",
    checkedIn: SINCE_1_2,
  },
  [ANNOTATION.interceptionMode]: {
    effect: "how inbound connections reach the proxy",
    check: "interceptionMode",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.rewriteAppProbers]: { effect: "whether probes of the application go through the agent" },
  [ANNOTATION.proxyImage]: { effect: "image of the proxy" },
  [ANNOTATION.proxyImageType]: { effect: "variant of the proxy's image" },
  [ANNOTATION.proxyCpu]: { effect: "CPU that the proxy requests", check: "quantity", checkedIn: TODAY },
  [ANNOTATION.proxyCpuLimit]: { effect: "most CPU of the proxy", check: "quantity", checkedIn: TODAY },
  [ANNOTATION.proxyMemory]: { effect: "memory that the proxy requests", check: "quantity", checkedIn: TODAY },
  [ANNOTATION.proxyMemoryLimit]: { effect: "most memory of the proxy", check: "quantity", checkedIn: TODAY },
  [ANNOTATION.nativeSidecar]: { effect: "whether the proxy is a native sidecar" },
  [ANNOTATION.capNetBindService]: { effect: "whether the proxy may bind ports below 1024" },
  [ANNOTATION.logLevel]: { effect: "log level of the proxy" },
  [ANNOTATION.componentLogLevel]: { effect: "log levels of the proxy's components" },
  [ANNOTATION.agentLogLevel]: { effect: "log level of the agent" },
  [ANNOTATION.bootstrapOverride]: { effect: "ConfigMap with a bootstrap configuration of the proxy" },
  [ANNOTATION.userVolume]: { effect: "volumes to add, a JSON object by name" },
  [ANNOTATION.userVolumeMount]: { effect: "mounts to add to the proxy, a JSON object by name" },
  [ANNOTATION.enableCoreDump]: {
    effect: "whether the proxy may write core dumps",
    check: "boolean",
    checkedIn: LAST_LEGACY,
    deprecated: true,
    instead: "the value global.proxy.enableCoreDump",
  },
  [ANNOTATION.discoveryAddress]: {
    effect: "address of the control plane",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.controlPlaneAuthPolicy]: {
    effect: "how the proxy authenticates to the control plane",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.extraStatTags]: {
    effect: "further tags of statistics",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.statsInclusionPrefixes]: {
    effect: "statistics to keep, by prefix",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.statsInclusionSuffixes]: {
    effect: "statistics to keep, by suffix",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.statsInclusionRegexps]: {
    effect: "statistics to keep, by regular expression",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.statsCompression]: {
    effect: "whether statistics are compressed",
    deprecated: true,
    instead: ANNOTATION.proxyConfig,
  },
  [ANNOTATION.statsEvictionInterval]: { effect: "when unused statistics are dropped" },
  [ANNOTATION.statsFlushInterval]: { effect: "how often statistics are flushed" },
  [ANNOTATION.statsHistogramBins]: { effect: "bins of histograms" },
  [ANNOTATION.statsHistogramBuckets]: { effect: "buckets of histograms" },
  [ANNOTATION.statusPort]: {
    effect: "port of the agent; 0 for no probes of the proxy",
    check: "port",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.readinessInitialDelaySeconds]: {
    effect: "delay of the proxy's readiness probe",
    check: "uint32",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.readinessPeriodSeconds]: {
    effect: "period of the proxy's readiness probe",
    check: "uint32",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.readinessFailureThreshold]: {
    effect: "failures that make the proxy unready",
    check: "uint32",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.readinessApplicationPorts]: {
    effect: "ports of the application that the agent waits for",
    check: "ports",
    checkedIn: LEGACY,
  },
  [ANNOTATION.includeOutboundIpRanges]: {
    effect: "outbound IP ranges that go through the proxy",
    check: "anyOrCidrs",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.excludeOutboundIpRanges]: {
    effect: "outbound IP ranges that do not go through the proxy",
    check: "cidrs",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.includeInboundPorts]: {
    effect: "inbound ports that go through the proxy",
    check: "anyOrPorts",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.excludeInboundPorts]: {
    effect: "inbound ports that do not go through the proxy",
    check: "ports",
    checkedIn: ALWAYS,
  },
  [ANNOTATION.includeOutboundPorts]: { effect: "outbound ports that go through the proxy whatever the address" },
  [ANNOTATION.excludeOutboundPorts]: {
    effect: "outbound ports that do not go through the proxy",
    check: "ports",
    checkedIn: SINCE_1_2,
  },
  [ANNOTATION.excludeInterfaces]: {
    effect: "network interfaces that are left alone",
    check: "interfaces",
    checkedIn: TODAY,
  },
  [ANNOTATION.kubevirtInterfaces]: {
    effect: "virtual interfaces whose inbound traffic counts as outbound",
    check: "interfaces",
    checkedIn: TODAY,
    deprecated: true,
    instead: ANNOTATION.rerouteVirtualInterfaces,
  },
  [ANNOTATION.rerouteVirtualInterfaces]: {
    effect: "virtual interfaces whose inbound traffic counts as outbound",
    check: "interfaces",
    checkedIn: TODAY,
  },
  [ANNOTATION.revision]: { effect: "revision of the control plane; written by injection" },
  [ANNOTATION.mergeMetrics]: {
    effect: "whether metrics of proxy and application are merged",
    check: "boolean",
    checkedIn: SINCE_1_2,
  },
  [ANNOTATION.scrapeTargets]: { effect: "ports and paths of metrics to merge" },
  [ANNOTATION.securePort]: { effect: "port of merged metrics over mutual TLS; written by injection" },
  [ANNOTATION.prometheusScrape]: { effect: "whether Prometheus scrapes the pod" },
  [ANNOTATION.prometheusPort]: { effect: "port that Prometheus scrapes" },
  [ANNOTATION.prometheusPath]: { effect: "path that Prometheus scrapes" },
  [ANNOTATION.defaultContainer]: { effect: "container that kubectl takes" },
  [ANNOTATION.defaultLogsContainer]: { effect: "container whose logs kubectl shows" },
  [ANNOTATION.multusNetworks]: { effect: "networks that Multus attaches" },
  [ANNOTATION.datadogEnv]: { effect: "environment of the Datadog tracer, a JSON object" },
  [ANNOTATION.otelServiceNamespace]: { effect: "service.namespace of OpenTelemetry" },
  [ANNOTATION.otelServiceVersion]: { effect: "service.version of OpenTelemetry" },
  [ANNOTATION.otelServiceInstanceId]: { effect: "service.instance.id of OpenTelemetry" },
};

/** What is known of an annotation by its name. */
export function annotationInfo(name: string): AnnotationInfo | undefined {
  return byName.get(name);
}

const byName: ReadonlyMap<string, AnnotationInfo> = new Map(Object.entries(ANNOTATIONS));
