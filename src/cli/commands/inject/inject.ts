import { command } from "../../command.ts";
import { fileHint, MANIFEST_EXITS } from "../../shared_flags.ts";
import { INJECT_FLAGS } from "./inject_flags.ts";

export const INJECT = command({
  summary: "Write manifests with the sidecar injected",
  description:
    "Prints the manifests on standard output. Parts that injection does not change keep their bytes. Standard " +
    "error gets one line per resource, with the reason. If a resource fails, no output is written. No cluster is " +
    "contacted without --from-cluster.",
  usage: "-f FILE|DIR|URL|- [flags]",
  surplusHint: (given) =>
    given.has("inPlace")
      ? "-i is --in-place; the control plane's namespace is --istioNamespace, with --from-cluster"
      : fileHint(given),
  examples: [
    { title: 'In a shell with "set -o pipefail"', command: "kubectl mesh inject -f web.yaml | kubectl apply -f -" },
    { command: "kubectl mesh inject -f manifests/ -R -o injected.yaml" },
    { command: "helm template web chart/ | kubectl mesh inject -f -" },
    {
      title: "Show the changes, then write them in place",
      command: "kubectl mesh inject -f web.yaml --diff\nkubectl mesh inject -f web.yaml -i",
    },
    { title: "A patch for kustomize", command: "kubectl mesh inject -f web.yaml --patch -o mesh.yaml" },
    {
      title: "With your own configuration, based on the built-in one",
      command: "kubectl mesh inject --show-config > injector.yaml\n" +
        "kubectl mesh inject -f web.yaml --inject-config injector.yaml",
    },
    {
      title: "With the configuration of an Istio control plane",
      command: "kubectl mesh inject -f web.yaml --from-cluster",
    },
    {
      title: "Inject as the cluster's webhooks do, from the cluster or from a snapshot",
      command: "kubectl mesh inject -f manifests/ --from-cluster --as-webhook\n" +
        "kubectl mesh config snapshot -o cluster.yaml\n" +
        "kubectl mesh inject -f manifests/ --inject-config cluster.yaml --as-webhook",
    },
  ],
  flags: INJECT_FLAGS,
  exits: MANIFEST_EXITS,
  isComparison: ({ diff }) => diff !== undefined,
  run: async (world, input) =>
    input.flags.asWebhook
      ? (await import("./as_webhook.ts")).runAsWebhook(world, input)
      : (await import("./inject_run.ts")).runInject(world, input),
});
