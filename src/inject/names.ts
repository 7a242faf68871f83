/** Names of annotations, labels and environment variables that injection reads or writes (istio.io/api annotation and label). */
export const INJECT = "sidecar.istio.io/inject";
export const STATUS = "sidecar.istio.io/status";
export const OVERRIDES = "proxy.istio.io/overrides";
export const PROXY_CONFIG = "proxy.istio.io/config";
export const TEMPLATES = "inject.istio.io/templates";
export const NATIVE_SIDECAR = "sidecar.istio.io/nativeSidecar";
export const INTERCEPTION_MODE = "sidecar.istio.io/interceptionMode";
export const IMAGE_TYPE = "sidecar.istio.io/proxyImageType";
export const REWRITE_PROBES = "sidecar.istio.io/rewriteAppHTTPProbers";
export const STATUS_PORT = "status.sidecar.istio.io/port";
export const MERGE_METRICS = "prometheus.istio.io/merge-metrics";
export const SECURE_PORT = "prometheus.istio.io/secure-port";
export const TOPOLOGY_NETWORK = "topology.istio.io/network";
export const PROBERS_ENV = "ISTIO_KUBE_APP_PROBERS";
export const PROMETHEUS_ENV = "ISTIO_PROMETHEUS_ANNOTATIONS";
export const NETWORK_ENV = "ISTIO_META_NETWORK";
export const CLUSTER_ENV = "ISTIO_META_CLUSTER_ID";
