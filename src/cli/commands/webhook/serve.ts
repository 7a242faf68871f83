import { UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, flagsWith, TIMER } from "../../../golang/flags/mod.ts";
import type { World } from "../../../platform/world.ts";
import type { ServeOptions } from "../../../webhook/mod.ts";
import { command, type Input } from "../../command.ts";
import { LOG } from "../../log_flags.ts";
import {
  CLUSTER,
  CONFIGURATION,
  CONTROL_PLANE,
  ISTIO_VERSION,
  NAMESPACE,
  REVISION,
  SERVER_EXITS,
  TEMPLATE_ENV,
} from "../../shared_flags.ts";

const FLAGS = {
  "Addresses": {
    listen: flag("--listen ADDRESS", "Address to serve reviews on, over HTTPS", { type: "address", default: ":15017" }),
    plainListen: flag("--plain-listen ADDRESS", "Address to serve /ready, /healthz and /metrics on, over HTTP", {
      type: "address",
      default: ":8080",
    }),
  },
  "Certificate from files": {
    tlsCert: flag("--tls-cert FILE", "Certificate chain, PEM", {
      type: "file",
      excludes: ["self-managed-certs"],
    }),
    tlsKey: flag("--tls-key FILE", "Private key of the certificate, PEM", {
      type: "file",
      excludes: ["self-managed-certs"],
    }),
  },
  "Certificate in the cluster": {
    selfManagedCerts: flag(
      "--self-managed-certs",
      "Create and renew the certificate, and keep the caBundle up to date",
    ),
    ...flagsWith({
      namespace: flag("-n, --namespace NAMESPACE", "Namespace of the Service and the Secret", {
        ...NAMESPACE,
        default: "istio-system",
      }),
      service: flag("--service NAME", "Service that the API server calls", {
        defaultDoc: "kubectl-mesh-webhook, or with -REVISION",
      }),
      certificateSecret: flag("--certificate-secret NAME", "Secret that the replicas share", {
        defaultDoc: "SERVICE-certificates",
      }),
      webhookConfig: flag("--webhook-config NAMES", "MutatingWebhookConfigurations whose caBundle is kept up to date", {
        completes: "webhooks",
        type: "list",
        defaultDoc: "istio-sidecar-injector, or with -REVISION",
      }),
    }, { needs: ["self-managed-certs"] }),
  },
  "Configuration from files (built-in unless given)": {
    ...flagsWith(CONFIGURATION, { excludes: ["from-cluster"] }),
    revision: { ...REVISION.revision, default: "default" },
  },
  "Configuration from the cluster": {
    fromCluster: flag("--from-cluster", "Read and watch the ConfigMaps of the cluster's control plane"),
    ...flagsWith(CONTROL_PLANE, { needs: ["from-cluster"] }),
  },
  "Templates": { ...ISTIO_VERSION, ...TEMPLATE_ENV },
  "Cluster": flagsWith(CLUSTER, { needs: ["from-cluster", "self-managed-certs"] }),
  "Process": {
    shutdownDelay: flag(
      "--shutdown-delay TIME",
      "Time after SIGTERM during which /ready fails and reviews are still answered",
      {
        ...TIMER,
        default: "5s",
      },
    ),
    shutdownTimeout: flag(
      "--shutdown-timeout TIME",
      "Maximum time after --shutdown-delay to wait for reviews in flight",
      {
        ...TIMER,
        default: "15s",
      },
    ),
    ...LOG,
  },
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const WEBHOOK_SERVE = command({
  summary: "Serve the webhook that injects pods",
  description:
    "Answer AdmissionReviews of pods at /inject and below it, by the rules of kubectl mesh inject. Watches files " +
    "and ConfigMaps. A new certificate or configuration takes effect without a failed review. An invalid version " +
    "is rejected and the previous version stays in use; the log, the metrics and /ready?verbose report this.",
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
  exits: SERVER_EXITS,
  run: serve,
});

async function serve(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { istioNamespace, injectConfigMapName, meshConfigMapName, shutdownDelay, shutdownTimeout } = flags;
  const certificate = flags.selfManagedCerts ? keptCertificate(flags) : certificateFiles(flags);
  const { listenAddress, serveWebhook } = await import("../../../webhook/mod.ts");
  return await serveWebhook(world, {
    listen: listenAddress("listen", flags.listen),
    plainListen: listenAddress("plain-listen", flags.plainListen),
    configuration: {
      config: flags.injectConfig,
      values: flags.values,
      mesh: flags.meshConfig,
      revision: flags.revision,
      istioVersion: flags.istioVersion,
      templateEnv: flags.templateEnv,
    },
    fromCluster: flags.fromCluster ? { istioNamespace, injectConfigMapName, meshConfigMapName } : undefined,
    certificate,
    connection: flags,
    shutdownDelay,
    shutdownTimeout,
    log: { format: flags.logFormat, level: flags.logLevel },
  });
}

function certificateFiles({ tlsCert, tlsKey }: Flags): ServeOptions["certificate"] {
  if (tlsCert !== undefined && tlsKey !== undefined) return { certificate: tlsCert, key: tlsKey };
  const missing = [tlsCert === undefined ? "--tls-cert" : "", tlsKey === undefined ? "--tls-key" : ""];
  throw new UsageError(`No certificate is configured: give ${missing.filter(Boolean).join(" and ")}`, {
    hint: "or use --self-managed-certs, which keeps a certificate in the cluster",
  });
}

/** Returns the names for a self-managed certificate. The defaults are the names from `webhook manifests`. */
function keptCertificate({ revision, service, namespace, certificateSecret, webhookConfig }: Flags) {
  const suffix = revision === "default" || revision === "" ? "" : `-${revision}`;
  const name = service ?? `kubectl-mesh-webhook${suffix}`;
  return {
    service: { name, namespace },
    secret: certificateSecret ?? `${name}-certificates`,
    configurations: webhookConfig.length > 0 ? webhookConfig : [`istio-sidecar-injector${suffix}`],
  };
}
