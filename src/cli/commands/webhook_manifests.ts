import { EXIT } from "../../core/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../core/command/mod.ts";
import type { World } from "../../core/world/world.ts";
import { VERSION } from "../../version.ts";
import { command, type Input } from "../command.ts";
import { readConfiguration } from "../configuration.ts";
import { CONFIGURATION, CONTROL_PLANE, IMAGES, REVISION } from "../shared_flags.ts";

const FLAGS = {
  "Installation": {
    image: flag("--image IMAGE", "Image with kubectl-mesh on its PATH", { default: `kubectl-mesh:${VERSION}` }),
    namespace: flag("-n, --namespace NAMESPACE", "Where the webhook runs", { defaultDoc: "istio-system" }),
    replicas: flag("--replicas NUMBER", "Pods that serve it", {
      type: "integer",
      least: 1,
      most: 2 ** 31 - 1,
      defaultDoc: "2",
    }),
  },
  "Pods": {
    revision: { ...REVISION.revision, doc: "Revision that namespaces and pods name" },
    tags: flag("--tag TAG", "Another name of the revision", { type: "list" }),
    failurePolicy: flag(
      "--failure-policy Fail|Ignore",
      "While the webhook is down: pods are refused, or created without a sidecar",
      { defaultDoc: "Fail" },
    ),
    namespaceSelector: flag(
      "--namespace-selector SELECTOR",
      "Labels that namespaces must have too, as kubectl reads them",
    ),
  },
  "Configuration (built-in unless given)": flagsWith({
    ...CONFIGURATION,
    ...IMAGES,
    proxyTag: flag("--proxy-tag TAG", "Tag of the proxy's images"),
  }, { excludes: ["from-cluster"] }),
  "Configuration from the cluster": {
    fromCluster: flag("--from-cluster", "The webhook reads the ConfigMaps of a control plane, and watches them"),
    ...flagsWith(CONTROL_PLANE, { needs: ["from-cluster"] }),
  },
} as const satisfies FlagGroups;

/** `kubectl mesh webhook manifests`. */
export const WEBHOOK_MANIFESTS = command({
  summary: "Print the manifests that run the webhook in a cluster",
  description: "Print service accounts and rights, Deployment, Service, configuration, and the " +
    "MutatingWebhookConfigurations that call it. No cluster is contacted. A second apply changes nothing.",
  isForPeople: true,
  examples: [
    { command: "kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 \\\n  | kubectl apply -f -" },
    {
      title: "With the configuration of an Istio control plane",
      command:
        "kubectl mesh webhook manifests --image example.com/kubectl-mesh:1 \\\n  --from-cluster | kubectl apply -f -",
    },
    {
      title: "A second revision",
      command: "kubectl mesh webhook manifests --image example.com/kubectl-mesh:2 \\\n  --revision canary --tag prod",
    },
  ],
  flags: FLAGS,
  exits: [["0", "done"], ["1", "a file could not be read"], ["2", "the command line is wrong"]],
  run: printManifests,
});

async function printManifests(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { image, namespace, revision, tags, failurePolicy, namespaceSelector, replicas } = flags;
  const { istioNamespace, injectConfigMapName, meshConfigMapName } = flags;
  world.permissions.keepOnly(["read", "env"]);
  const { webhookManifests } = await import("../../webhook/mod.ts");
  world.stdout.write(webhookManifests({
    ...{ image, namespace, revision, tags, failurePolicy, namespaceSelector, replicas },
    configuration: {
      ...await readConfiguration(world, flags),
      hub: flags.hub,
      tag: flags.proxyTag,
      cni: flags.cni || undefined,
    },
    fromCluster: flags.fromCluster ? { istioNamespace, injectConfigMapName, meshConfigMapName } : undefined,
  }));
  return EXIT.ok;
}
