import { UsageError } from "../../core/errors.ts";
import { type FlagGroups, flagsWith } from "../../core/command/mod.ts";
import type { World } from "../../core/world/world.ts";
import type { ServeOptions } from "../../webhook/mod.ts";
import { command, type Input } from "../command.ts";
import { CLUSTER, CONFIGURATION, CONTROL_PLANE, LOG, REVISION, TIME } from "../shared_flags.ts";

const FLAGS = {
  "Addresses": {
    listen: {
      name: "listen",
      type: "address",
      value: "ADDRESS",
      default: ":15017",
      doc: "Where reviews are answered, over HTTPS",
    },
    plainListen: {
      name: "plain-listen",
      type: "address",
      value: "ADDRESS",
      default: ":8080",
      doc: "Where /ready, /healthz and /metrics are answered, over HTTP",
    },
  },
  "Certificate from files": {
    tlsCert: {
      name: "tls-cert",
      type: "file",
      value: "FILE",
      excludes: ["self-managed-certs"],
      doc: "Certificate with the certificates that signed it, PEM",
    },
    tlsKey: {
      name: "tls-key",
      type: "file",
      value: "FILE",
      excludes: ["self-managed-certs"],
      doc: "Its private key, PEM",
    },
  },
  "Certificate kept in the cluster": {
    selfManagedCerts: {
      name: "self-managed-certs",
      type: "boolean",
      doc: "Make and renew the certificate, and keep the API server trusting it",
    },
    ...flagsWith({
      namespace: {
        name: "namespace",
        short: "n",
        type: "text",
        value: "NAMESPACE",
        default: "istio-system",
        doc: "Namespace of the Service and the Secret",
      },
      service: {
        name: "service",
        type: "text",
        value: "NAME",
        defaultDoc: "kubectl-mesh-webhook, or with -REVISION",
        doc: "Service that the API server calls",
      },
      certificateSecret: {
        name: "certificate-secret",
        type: "text",
        value: "NAME",
        defaultDoc: "SERVICE-certificates",
        doc: "Secret that the replicas share",
      },
      webhookConfig: {
        name: "webhook-config",
        type: "list",
        value: "NAMES",
        defaultDoc: "istio-sidecar-injector, or with -REVISION",
        doc: "MutatingWebhookConfigurations whose caBundle is kept",
      },
    }, { needs: ["self-managed-certs"] }),
  },
  "Configuration from files (built-in unless given)": {
    ...flagsWith(CONFIGURATION, { excludes: ["from-cluster"] }),
    revision: { ...REVISION.revision, default: "default" },
  },
  "Configuration from the cluster": {
    fromCluster: {
      name: "from-cluster",
      type: "boolean",
      doc: "Read the ConfigMaps of the cluster's control plane, and watch them",
    },
    ...flagsWith(CONTROL_PLANE, { needs: ["from-cluster"] }),
  },
  "Cluster": flagsWith(CLUSTER, { needs: ["from-cluster", "self-managed-certs"] }),
  "Process": {
    workers: {
      name: "workers",
      type: "integer",
      most: 64,
      value: "NUMBER",
      defaultDoc: "2 with 4 processors or more, else 0",
      doc: "Further processes, which answer reviews",
    },
    shutdownDelay: {
      ...TIME,
      name: "shutdown-delay",
      default: "5s",
      doc: "After SIGTERM: answer reviews for this long while /ready fails",
    },
    shutdownTimeout: {
      ...TIME,
      name: "shutdown-timeout",
      default: "15s",
      doc: "Then wait at most this long for reviews in flight",
    },
    ...LOG,
  },
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

/** `kubectl mesh webhook serve`. */
export const WEBHOOK_SERVE = command({
  summary: "Answer the API server's reviews of pods",
  description:
    "Serve the mutating webhook: AdmissionReviews of pods at /inject and below it, answered by the rules of " +
    "kubectl mesh inject. Files and ConfigMaps are watched. A new certificate or configuration takes effect without a " +
    "failed review. An invalid one is rejected and the one before stays; the log, the metrics and /ready?verbose tell.",
  usage: "(--tls-cert FILE --tls-key FILE | --self-managed-certs) [flags]",
  examples: [
    {
      command: "kubectl mesh webhook serve --tls-cert tls.crt --tls-key tls.key \\\n" +
        "  --inject-config config.yaml --values values.yaml --mesh-config mesh.yaml",
    },
    { command: "kubectl mesh webhook serve --self-managed-certs --from-cluster" },
    { command: "curl --insecure https://localhost:15017/ready?verbose" },
  ],
  flags: FLAGS,
  exits: [
    ["0", "a signal ended it"],
    ["1", "it could not start"],
    ["2", "the command line is wrong"],
    ["130, 143", "a second SIGINT or SIGTERM ended it at once"],
  ],
  run: serve,
});

async function serve(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { istioNamespace, injectConfigMapName, meshConfigMapName, shutdownDelay, shutdownTimeout, workers } = flags;
  const certificate = flags.selfManagedCerts ? keptCertificate(flags) : certificateFiles(flags);
  const room = await import("../../webhook/mod.ts");
  return await room.serveWebhook(world, {
    listen: room.listenAddress("listen", flags.listen),
    plainListen: room.listenAddress("plain-listen", flags.plainListen),
    configuration: {
      config: flags.injectConfig,
      values: flags.values,
      mesh: flags.meshConfig,
      revision: flags.revision,
    },
    fromCluster: flags.fromCluster ? { istioNamespace, injectConfigMapName, meshConfigMapName } : undefined,
    certificate,
    connection: flags,
    shutdownDelay,
    shutdownTimeout,
    workers,
    log: { format: flags.logFormat, level: flags.logLevel },
  });
}

function certificateFiles({ tlsCert, tlsKey }: Flags): ServeOptions["certificate"] {
  if (tlsCert !== undefined && tlsKey !== undefined) return { certificate: tlsCert, key: tlsKey };
  const missing = [tlsCert === undefined ? "--tls-cert" : "", tlsKey === undefined ? "--tls-key" : ""];
  throw new UsageError(`There is no certificate to serve: give ${missing.filter(Boolean).join(" and ")}`, {
    hint: "or --self-managed-certs, which keeps one in the cluster",
  });
}

/** The defaults are the names that `webhook manifests` gives. */
function keptCertificate({ revision, service, namespace, certificateSecret, webhookConfig }: Flags) {
  const suffix = revision === "default" || revision === "" ? "" : `-${revision}`;
  const name = service ?? `kubectl-mesh-webhook${suffix}`;
  return {
    service: { name, namespace },
    secret: certificateSecret ?? `${name}-certificates`,
    configurations: webhookConfig.length > 0 ? webhookConfig : [`istio-sidecar-injector${suffix}`],
  };
}
