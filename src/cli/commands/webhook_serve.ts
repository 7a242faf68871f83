import { EXIT, UsageError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import type { ServeOptions } from "../../webhook/mod.ts";
import { durationValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { helpText } from "../help.ts";

const PROGRAM = "kubectl mesh webhook serve";

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

const CONFIGURATION_FLAGS: readonly Flag[] = [
  { name: "inject-config", value: "file", help: "injector configuration, its ConfigMap, or a template" },
  { name: "values", value: "file", help: "values of the configuration, YAML or JSON" },
  { name: "mesh-config", value: "file", help: "mesh configuration, or its ConfigMap" },
  { name: "revision", short: "r", value: "revision", help: 'revision of the control plane (default "default")' },
];

const CLUSTER_FLAGS: readonly Flag[] = [
  { name: "from-cluster", help: "the ConfigMaps of the cluster's control plane are the configuration, watched" },
  { name: "istioNamespace", short: "i", value: "namespace", help: 'where they are (default "istio-system")' },
  {
    name: "injectConfigMapName",
    value: "name",
    help: "that of the injector (istio-sidecar-injector, or with -REVISION)",
  },
  { name: "meshConfigMapName", value: "name", help: "that of the mesh (istio, or with -REVISION)" },
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

/** `kubectl mesh webhook serve [flags]`. */
export async function webhookServe(world: World, args: readonly string[]): Promise<number> {
  const known = [
    ...ADDRESS_FLAGS,
    ...CERTIFICATE_FLAGS,
    ...CONFIGURATION_FLAGS,
    ...CLUSTER_FLAGS,
    ...OTHER_FLAGS,
    ...OLD_FLAGS,
  ];
  const flags = readFlags(known, args, PROGRAM);
  if (flags.isOn("help")) {
    world.stdout.write(help());
    return EXIT.ok;
  }
  const [word] = [...flags.words, ...flags.rest ?? []];
  if (word !== undefined) throw new UsageError(`Unexpected argument "${word}"`, { hint: `see "${PROGRAM} --help"` });
  const room = await import("../../webhook/mod.ts");
  return await room.serveWebhook(world, {
    listen: room.listenAddress("listen", flags.text("listen") ?? ":15017"),
    plainListen: room.listenAddress("plain-listen", flags.text("plain-listen") ?? ":8080"),
    configuration: configuration(flags),
    cluster: cluster(flags),
    certificate: certificate(flags),
    shutdownDelay: durationValue("shutdown-delay", flags.text("shutdown-delay") ?? "5s"),
    shutdownTimeout: durationValue("shutdown-timeout", flags.text("shutdown-timeout") ?? "15s"),
    log: { format: flags.text("log-format"), level: flags.text("log-level") },
  });
}

function configuration(flags: Reading): ServeOptions["configuration"] {
  return {
    config: flags.text("inject-config") ?? flags.text("injectConfigFile"),
    values: flags.text("values") ?? flags.text("valuesFile"),
    mesh: flags.text("mesh-config") ?? flags.text("meshConfigFile"),
    revision: flags.text("revision") ?? "default",
  };
}

/** Files are one way to configure, the cluster is another: which would count would be hard to see. */
function cluster(flags: Reading): ServeOptions["cluster"] {
  const { config, values, mesh } = configuration(flags);
  const text = (name: string) => flags.text(name);
  if (!flags.isOn("from-cluster")) {
    const alone = CLUSTER_FLAGS.find(({ name, value }) => value !== undefined && text(name) !== undefined);
    if (alone === undefined) return undefined;
    throw new UsageError(`The flag --${alone.name} is about a cluster`, { hint: "add --from-cluster" });
  }
  if (config ?? values ?? mesh) {
    throw new UsageError("The configuration comes from files or with --from-cluster, not both");
  }
  return {
    connection: { kubeconfig: text("kubeconfig"), context: text("context") },
    choice: {
      istioNamespace: text("istioNamespace"),
      injectConfigMapName: text("injectConfigMapName"),
      meshConfigMapName: text("meshConfigMapName"),
    },
  };
}

function certificate(flags: Reading): ServeOptions["certificate"] {
  const [certificate, key] = [flags.text("tls-cert"), flags.text("tls-key")];
  if (certificate !== undefined && key !== undefined) return { certificate, key };
  const missing = [certificate === undefined ? "--tls-cert" : "", key === undefined ? "--tls-key" : ""];
  throw new UsageError(`There is no certificate to serve: give ${missing.filter(Boolean).join(" and ")}`, {
    hint: "they name the files of a certificate and of its key, as a Secret of the type kubernetes.io/tls has them",
  });
}

function help(): string {
  return helpText({
    usage: `${PROGRAM} --tls-cert FILE --tls-key FILE [flags]`,
    description:
      "Serve the mutating webhook: AdmissionReviews of pods at /inject and below it, answered as inject does. " +
      "Files are watched: a new certificate and a new configuration come into force without a failed review, and one " +
      "that is wrong leaves the one before in force, which log, metrics and /ready?verbose tell.",
    flags: {
      "Addresses:": ADDRESS_FLAGS,
      "Certificate:": CERTIFICATE_FLAGS,
      "Configuration (built-in unless given):": CONFIGURATION_FLAGS,
      "Configuration of a cluster:": CLUSTER_FLAGS,
      "Other flags:": OTHER_FLAGS,
    },
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
  curl --insecure https://localhost:15017/ready?verbose
`;
