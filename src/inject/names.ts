/** Names of the proxy's environment variables that injection reads or writes. */
export const PROBERS_ENV = "ISTIO_KUBE_APP_PROBERS";
export const PROMETHEUS_ENV = "ISTIO_PROMETHEUS_ANNOTATIONS";
export const NETWORK_ENV = "ISTIO_META_NETWORK";
export const CLUSTER_ENV = "ISTIO_META_CLUSTER_ID";
