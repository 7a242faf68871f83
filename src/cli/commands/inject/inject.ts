import { flag, type FlagGroups, flagsWith, longOnly } from "../../../golang/flags/mod.ts";
import { command, type Input } from "../../command.ts";
import {
  CLUSTER,
  CONFIGURATION,
  CONTROL_PLANE,
  IMAGES,
  MANIFEST_EXITS,
  MANIFESTS,
  NATIVE_SIDECARS,
  REVISION,
} from "../../shared_flags.ts";

const FLAGS = {
  "Manifests": MANIFESTS,
  "Configuration (built-in unless given)": {
    ...CONFIGURATION,
    revision: { ...REVISION.revision, default: "default" },
    ...IMAGES,
    tag: flag("--tag TAG", "Tag of the proxy's images"),
    ...NATIVE_SIDECARS,
    templateEnv: flag("--template-env NAMES", "Environment variables that templates see besides Istio's own", {
      type: "list",
    }),
    showConfig: flag("--show-config", "Print the configuration in use and stop"),
  },
  "Configuration from a cluster": {
    fromCluster: flag("--from-cluster", "Read what no file gives from the ConfigMaps of the control plane"),
    asWebhook: flag(
      "--as-webhook",
      "Decide as the cluster's webhooks would, and inject each pod with the configuration of the revision that takes it",
      {
        needs: ["from-cluster", "inject-config"],
        excludes: ["values", "mesh-config", "revision", "hub", "tag", "cni", "show-config"],
      },
    ),
    // Without -i, as istioctl has it: here it is --in-place.
    ...flagsWith({ ...CONTROL_PLANE, istioNamespace: longOnly(CONTROL_PLANE.istioNamespace), ...CLUSTER }, {
      needs: ["from-cluster"],
    }),
  },
} as const satisfies FlagGroups;

/** What `inject` gets. */
export type InjectInput = Input<typeof FLAGS>;

/** `kubectl mesh inject`. */
export const INJECT = command({
  summary: "Write manifests with the sidecar injected",
  description:
    "What injection does not touch keeps its bytes. Manifests go to standard output. Standard error gets a line " +
    "for each resource, with the reason. If one fails, nothing is written. Without --from-cluster no cluster is contacted.",
  usage: "-f FILE|DIR|URL|- [flags]",
  isForPeople: true,
  surplusHint: (given) =>
    given.has("inPlace")
      ? "-i is --in-place; the control plane's namespace is --istioNamespace, with --from-cluster"
      : "name files with -f",
  examples: [
    { title: 'In a shell with "set -o pipefail"', command: "kubectl mesh inject -f web.yaml | kubectl apply -f -" },
    { command: "kubectl mesh inject -f manifests/ -R -o injected.yaml" },
    { command: "helm template web chart/ | kubectl mesh inject -f -" },
    {
      title: "What would change, then in place",
      command: "kubectl mesh inject -f web.yaml --diff\nkubectl mesh inject -f web.yaml -i",
    },
    { title: "A patch for kustomize", command: "kubectl mesh inject -f web.yaml --patch -o mesh.yaml" },
    {
      title: "With a configuration of your own, made from the built-in one",
      command: "kubectl mesh inject --show-config > injector.yaml\n" +
        "kubectl mesh inject -f web.yaml --inject-config injector.yaml",
    },
    {
      title: "With the configuration of an Istio control plane",
      command: "kubectl mesh inject -f web.yaml --from-cluster",
    },
    {
      title: "What the webhooks of the cluster would do, now and without the cluster",
      command: "kubectl mesh inject -f manifests/ --from-cluster --as-webhook\n" +
        "kubectl mesh config capture -o cluster.yaml\n" +
        "kubectl mesh inject -f manifests/ --inject-config cluster.yaml --as-webhook",
    },
  ],
  flags: FLAGS,
  exits: MANIFEST_EXITS,
  run: async (world, input) =>
    input.flags.asWebhook
      ? (await import("./as_webhook.ts")).runAsWebhook(world, input)
      : (await import("./inject_run.ts")).runInject(world, input),
});
