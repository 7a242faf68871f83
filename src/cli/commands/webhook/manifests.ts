import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, flagsWith, valuesAsFlags } from "../../../golang/flags/mod.ts";
import type { World } from "../../../platform/world.ts";
import { VERSION } from "../../../version.ts";
import { command, type Input } from "../../command.ts";
import { readConfiguration } from "../../configuration.ts";
import { say } from "../../failure.ts";
import { CONFIGURATION, CONTROL_PLANE, IMAGES, NAMESPACE, REVISION } from "../../shared_flags.ts";

/** The image that this project builds. */
const UNPUBLISHED = `kubectl-mesh:${VERSION}`;

const FLAGS = {
  "Installation": {
    image: flag("--image IMAGE", "Image with kubectl-mesh on its PATH", { default: UNPUBLISHED }),
    namespace: flag("-n, --namespace NAMESPACE", "Namespace that the webhook runs in", {
      ...NAMESPACE,
      defaultDoc: "istio-system",
    }),
    only: flag("--only KIND", "Only objects of this kind, such as ConfigMap", { type: "list", excludes: ["undo"] }),
    replicas: flag("--replicas NUMBER", "Number of pods that serve the webhook", {
      type: "integer",
      least: 1,
      most: 2 ** 31 - 1,
      defaultDoc: "2",
    }),
    maxReplicas: flag(
      "--max-replicas NUMBER",
      "Add a HorizontalPodAutoscaler that scales by CPU to at most this many pods",
      {
        type: "integer",
        least: 1,
        most: 2 ** 31 - 1,
      },
    ),
  },
  "Network": {
    servicePort: flag("--service-port PORT", "Port of the Service, which the API server calls", {
      type: "integer",
      least: 1,
      most: 65_535,
      defaultDoc: "443",
    }),
    networkPolicy: flag(
      "--network-policy ADDRESSES",
      "Add a NetworkPolicy that allows reviews only from these API servers",
      {
        type: "list",
      },
    ),
    metricsNamespaces: flag("--metrics-namespace NAMESPACE", "Namespace whose pods may read metrics", {
      completes: "namespaces",
      type: "list",
      needs: ["network-policy"],
    }),
    probesFrom: flag(
      "--probes-from ADDRESSES",
      "Addresses of nodes that may send probes, if the network plugin blocks kubelets",
      {
        type: "list",
        needs: ["network-policy"],
      },
    ),
  },
  "Pods": {
    revision: { ...REVISION.revision, doc: "Revision that namespaces and pods select" },
    tags: flag("--tag TAG", "Additional name of the revision", { type: "list" }),
    failurePolicy: flag(
      "--failure-policy Fail|Ignore",
      "Effect of a webhook that is down: pods are refused, or created without a sidecar",
      { type: "choice", allowed: ["Fail", "Ignore"], defaultDoc: "Fail" },
    ),
    namespaceSelector: flag(
      "--namespace-selector SELECTOR",
      "Additional label selector for namespaces, in kubectl's syntax",
    ),
  },
  "CNI plugin": {
    cni: flag(
      "--cni",
      "Capture traffic with the CNI plugin, so that pods need no privileges; also prints its DaemonSet",
    ),
    ...flagsWith({
      platform: flag(
        "--platform default|gke|k3d|k3s|microk8s|openshift",
        "Platform of the nodes, which determines the CNI folders",
        {
          defaultDoc: "default",
        },
      ),
      cniRepair: flag("--cni-repair delete|label|fix", "Repair of pods that started without the plugin", {
        defaultDoc: "fix",
      }),
      cniTaint: flag("--cni-taint KEY", "Taint on nodes until the plugin is installed"),
    }, { needs: ["cni"] }),
  },
  "Istio's own injector": {
    takeOver: flag("--take-over", "Print manifests that replace the injector of a control plane"),
    undo: flag("--undo", "Print the commands that remove the webhook and restore what it replaced"),
  },
  "Configuration (built-in unless given)": flagsWith({
    ...CONFIGURATION,
    hub: IMAGES.hub,
    proxyTag: flag("--proxy-tag TAG", "Tag of the proxy's images"),
  }, { excludes: ["from-cluster"] }),
  "Configuration from the cluster": {
    fromCluster: flag("--from-cluster", "Read and watch the ConfigMaps of a control plane"),
    ...flagsWith(CONTROL_PLANE, { needs: ["from-cluster"] }),
  },
} as const satisfies FlagGroups;

export const WEBHOOK_MANIFESTS = command({
  summary: "Print the manifests that run the webhook in a cluster",
  description: "Print service accounts and roles, Secret, Deployment, Service, configuration, and the " +
    "MutatingWebhookConfigurations that call the webhook. No cluster is contacted, not even with --from-cluster. Applying the same manifests " +
    "again changes nothing. The default revision, and --from-cluster without another name, replace Istio's own " +
    "injector, which needs --take-over. An annotation of the objects records the flags, so that check can explain " +
    "how to recreate a lost object.",
  examples: [
    {
      title: "Beside istiod's injector",
      command:
        "kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 \\\n  --revision mesh | kubectl apply -f -",
    },
    {
      title: "Instead of istiod's injector, with the configuration of the control plane",
      command: "kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 \\\n" +
        "  --from-cluster --take-over | kubectl apply -f -",
    },
    { title: "Restore istiod's injector", command: "kubectl mesh webhook manifests --from-cluster --undo | sh" },
  ],
  flags: FLAGS,
  exits: { ok: true, failed: "a file could not be read", usage: true },
  run: printManifests,
});

async function printManifests(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { istioNamespace, injectConfigMapName, meshConfigMapName } = flags;
  world.permissions.keepOnly(["read", "env"]);
  const webhook = await import("../../../webhook/mod.ts");
  const options = {
    ...flags,
    flags: valuesAsFlags(FLAGS, flags).filter((each) => !/^--(only|undo)\b/.test(each)),
    configuration: {
      ...await readConfiguration(world, flags),
      hub: flags.hub,
      tag: flags.proxyTag,
      cni: flags.cni || undefined,
    },
    fromCluster: flags.fromCluster ? { istioNamespace, injectConfigMapName, meshConfigMapName } : undefined,
  };
  const text = flags.undo ? webhook.webhookUndo(options) : webhook.webhookManifests(options);
  if (!flags.undo && flags.image === UNPUBLISHED) {
    say(
      world,
      `warning: No registry is known to have the image "${flags.image}": build one (docs/images.md) and name it with --image`,
    );
  }
  if (!flags.undo) warnOfTakeOvers(world, webhook.webhookTakeOvers(options), flags.takeOver);
  world.stdout.write(text);
  return EXIT.ok;
}

/** Warns about each object that may be replaced. Throws for an object of a control plane without --take-over. */
function warnOfTakeOvers(
  world: World,
  found: readonly { readonly name: string; readonly owner: string; readonly isControlPlanes: boolean }[],
  isWanted: boolean,
): void {
  const [refused] = isWanted ? [] : found.filter(({ isControlPlanes }) => isControlPlanes);
  if (refused !== undefined) {
    throw new UsageError(`"${refused.name}" would replace ${refused.owner}`, {
      hint: "use another --revision to run beside it, or --take-over; --undo prints what to save first",
    });
  }
  for (const { name, owner, isControlPlanes } of found) {
    const seldom = isControlPlanes ? "" : ", if there is one";
    say(
      world,
      `warning: "${name}" replaces ${owner}${seldom}; --undo prints what to save first and how to go back`,
    );
  }
}
