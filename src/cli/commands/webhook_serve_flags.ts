import type { Flag } from "../flags.ts";
import { helpText } from "../help.ts";

export const SERVE = "kubectl mesh webhook serve";

const ADDRESS_FLAGS: readonly Flag[] = [
  { name: "listen", value: "address", help: 'where reviews are answered, over HTTPS (default ":15017")' },
  {
    name: "plain-listen",
    value: "address",
    help: 'where /ready, /healthz and /metrics are answered, over HTTP (default ":8080")',
  },
];

const CERTIFICATE_FLAGS: readonly Flag[] = [
  { name: "tls-cert", value: "file", help: "certificate with those that it was signed by, PEM" },
  { name: "tls-key", value: "file", help: "its private key, PEM" },
];

/** What only `--self-managed-certs` reads. */
export const KEPT_FLAGS: readonly Flag[] = [
  {
    name: "namespace",
    short: "n",
    value: "namespace",
    help: 'that of the Service and the Secret (default "istio-system")',
  },
  {
    name: "service",
    value: "name",
    help: "Service that the API server calls (kubectl-mesh-webhook, or with -REVISION)",
  },
  { name: "certificate-secret", value: "name", help: "Secret that the replicas share (SERVICE-certificates)" },
  {
    name: "webhook-config",
    value: "names",
    help:
      "MutatingWebhookConfigurations whose caBundle is kept; comma list (istio-sidecar-injector, or with -REVISION)",
  },
];

const SELF_MANAGED: Flag = {
  name: "self-managed-certs",
  help: "make and renew the certificate, and keep the API server trusting it",
};

const CONFIGURATION_FLAGS: readonly Flag[] = [
  { name: "inject-config", value: "file", help: "injector configuration, its ConfigMap, or a template" },
  { name: "values", value: "file", help: "values of the configuration, YAML or JSON" },
  { name: "mesh-config", value: "file", help: "mesh configuration, or its ConfigMap" },
  { name: "revision", short: "r", value: "revision", help: 'revision of the control plane (default "default")' },
];

const FROM_CLUSTER: Flag = {
  name: "from-cluster",
  help: "the ConfigMaps of the cluster's control plane are the configuration, watched",
};

/** What only `--from-cluster` reads. */
export const CHOICE_FLAGS: readonly Flag[] = [
  { name: "istioNamespace", short: "i", value: "namespace", help: 'where they are (default "istio-system")' },
  {
    name: "injectConfigMapName",
    value: "name",
    help: "that of the injector (istio-sidecar-injector, or with -REVISION)",
  },
  { name: "meshConfigMapName", value: "name", help: "that of the mesh (istio, or with -REVISION)" },
];

/** What is read where a cluster is asked, for whatever. */
export const CONNECTION_FLAGS: readonly Flag[] = [
  { name: "kubeconfig", value: "file", help: "kubeconfig file; in a pod without one its service account is used" },
  { name: "context", value: "name", help: "context of the kubeconfig" },
];

/** Istio's spellings. */
const OLD_FLAGS: readonly Flag[] = [
  { name: "injectConfigFile", value: "file" },
  { name: "valuesFile", value: "file" },
  { name: "meshConfigFile", value: "file" },
];

const OTHER_FLAGS: readonly Flag[] = [
  {
    name: "workers",
    value: "number",
    help: "further processes, which answer reviews (2 where there are 4 processors or more, else none)",
  },
  {
    name: "shutdown-delay",
    value: "duration",
    help: "after SIGTERM it is not ready, and goes on for so long: clients learn of its end (default 5s)",
  },
  {
    name: "shutdown-timeout",
    value: "duration",
    help: "how long reviews under way are waited for then (default 15s)",
  },
  { name: "log-format", value: "text|json", help: "form of the log on standard error (MESH_LOG_FORMAT)" },
  { name: "log-level", value: "level", help: "debug, info, warning or error (MESH_LOG_LEVEL)" },
];

const GROUPS: Readonly<Record<string, readonly Flag[]>> = {
  "Addresses:": ADDRESS_FLAGS,
  "Certificate from files:": CERTIFICATE_FLAGS,
  "Certificate that is kept in the cluster:": [SELF_MANAGED, ...KEPT_FLAGS],
  "Configuration from files (built-in unless given):": CONFIGURATION_FLAGS,
  "Configuration from the cluster:": [FROM_CLUSTER, ...CHOICE_FLAGS],
  "Which cluster:": CONNECTION_FLAGS,
  "Other flags:": OTHER_FLAGS,
};

/** All flags of `webhook serve`. */
export const SERVE_FLAGS: readonly Flag[] = [...Object.values(GROUPS).flat(), ...OLD_FLAGS];

/** The text of `webhook serve --help`. */
export function serveHelp(): string {
  return helpText({
    usage: `${SERVE} (--tls-cert FILE --tls-key FILE | --self-managed-certs) [flags]`,
    description:
      "Serve the mutating webhook: AdmissionReviews of pods at /inject and below it, answered as inject does. " +
      "Files and ConfigMaps are watched: a new certificate and a new configuration come into force without a failed " +
      "review, and one that is wrong leaves the one before in force, which log, metrics and /ready?verbose tell.",
    flags: GROUPS,
    after: AFTER,
  });
}

const AFTER = `
Exit codes:
  0 ended by a signal, 1 it could not start, 2 the command line is wrong,
  143 or 130 a second SIGTERM or SIGINT ended it at once

Examples:
  kubectl mesh webhook serve --tls-cert tls.crt --tls-key tls.key \\
    --inject-config config.yaml --values values.yaml --mesh-config mesh.yaml
  kubectl mesh webhook serve --self-managed-certs --from-cluster
  curl --insecure https://localhost:15017/ready?verbose
`;
