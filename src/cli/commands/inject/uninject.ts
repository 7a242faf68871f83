import { command } from "../../command.ts";
import { fileHint, MANIFEST_EXITS, MANIFESTS } from "../../shared_flags.ts";

export const UNINJECT = command({
  summary: "Remove the sidecar from manifests",
  description:
    "Removes what this program, istioctl since 1.0 or the webhook injected, and restores the fields that they " +
    "rewrote. All other parts keep their bytes. A warning names each field whose original value is unknown. No " +
    "cluster is contacted.",
  usage: "-f FILE|DIR|URL|- [flags]",
  surplusHint: fileHint,
  examples: [
    { command: "kubectl mesh uninject -f injected.yaml -o web.yaml" },
    {
      title: "A running workload, without the sidecar",
      command: "kubectl get deployment web -o yaml | kubectl mesh uninject -f -",
    },
  ],
  flags: { "Manifests": MANIFESTS },
  exits: MANIFEST_EXITS,
  isComparison: ({ diff }) => diff !== undefined,
  run: async (world, input) => (await import("./uninject_run.ts")).runUninject(world, input),
});
