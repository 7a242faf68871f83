import { EXIT } from "../../core/errors.ts";
import { type FlagGroups, flagsWith } from "../../core/command/mod.ts";
import type { World } from "../../core/world/world.ts";
import { VERSION } from "../../version.ts";
import { command, type Input } from "../command.ts";
import { readConfiguration } from "../configuration.ts";
import { CONFIGURATION, CONTROL_PLANE, IMAGES, REVISION } from "../shared_flags.ts";

const FLAGS = {
  "Installation": {
    image: {
      name: "image",
      type: "text",
      value: "IMAGE",
      // Without a registry: users know where their images are.
      default: `kubectl-mesh:${VERSION}`,
      doc: "Image with kubectl-mesh on its PATH",
    },
    namespace: {
      name: "namespace",
      short: "n",
      type: "text",
      value: "NAMESPACE",
      defaultDoc: "istio-system",
      doc: "Where the webhook runs",
    },
    replicas: {
      name: "replicas",
      type: "integer",
      least: 1,
      most: 2 ** 31 - 1,
      value: "NUMBER",
      defaultDoc: "2",
      doc: "Pods that serve it",
    },
  },
  "Pods": {
    revision: { ...REVISION.revision, doc: "Revision that namespaces and pods name" },
    tags: { name: "tag", type: "list", value: "TAG", doc: "Another name of the revision" },
    failurePolicy: {
      name: "failure-policy",
      type: "text",
      allowed: ["Fail", "Ignore"],
      defaultDoc: "Fail",
      doc: "While the webhook is down: pods are refused, or created without a sidecar",
    },
    namespaceSelector: {
      name: "namespace-selector",
      type: "text",
      value: "SELECTOR",
      doc: "Labels that namespaces must have too, as kubectl reads them",
    },
  },
  "Configuration (built-in unless given)": flagsWith({
    ...CONFIGURATION,
    ...IMAGES,
    proxyTag: { name: "proxy-tag", type: "text", value: "TAG", doc: "Tag of the proxy's images" },
  }, { excludes: ["from-cluster"] }),
  "Configuration from the cluster": {
    fromCluster: {
      name: "from-cluster",
      type: "boolean",
      doc: "The webhook reads the ConfigMaps of a control plane, and watches them",
    },
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
