import { command } from "../../command.ts";
import { CONFIG_DIFF_FLAGS } from "./diff_flags.ts";

export const CONFIG_DIFF = command({
  summary: "Compare the pods that two configurations produce",
  description:
    "Inject the same pods with both configurations, and print a unified diff of the results. Equal differences of several pods are printed once. " +
    "A and B are snapshots, injector configurations, their ConfigMaps, templates, or rev:NAME for a revision or tag of the " +
    "cluster. SNAPSHOT@REVISION is one revision of a snapshot; two snapshots are compared revision by revision.",
  usage: "A B [-f FILE] [flags]",
  positional: { usage: "A B", completes: "configurations" },
  examples: [
    { command: "kubectl mesh config diff rev:default rev:canary" },
    {
      title: "Changes of the cluster between two snapshots",
      command: "kubectl mesh config diff before.yaml after.yaml",
    },
    {
      title: "Changes in your own manifests",
      command: "kubectl mesh config diff cluster.yaml@default injector.yaml -f manifests/ -R",
    },
  ],
  flags: CONFIG_DIFF_FLAGS,
  exits: {
    ok: "the pods are the same",
    failed: "pods differ, or only one of two snapshots has a revision",
    usage: "an error, or a wrong command line",
  },
  isComparison: () => true,
  run: async (world, input) => (await import("./diff_run.ts")).runConfigDiff(world, input),
});
