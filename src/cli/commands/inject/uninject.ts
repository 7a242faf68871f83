import { command } from "../../command.ts";
import { MANIFEST_EXITS, MANIFESTS } from "../../shared_flags.ts";

export const UNINJECT = command({
  summary: "Take the sidecar out of manifests again",
  description:
    "Takes out what an injection put in, by this program, by istioctl since 1.0 or by the webhook, and restores what it " +
    "rewrote. All else keeps its bytes. What cannot be known any more is a warning that names the field. " +
    "No cluster is contacted.",
  usage: "-f FILE|DIR|URL|- [flags]",
  surplusHint: "name files with -f",
  examples: [
    { command: "kubectl mesh uninject -f injected.yaml -o web.yaml" },
    {
      title: "What runs, without the sidecar",
      command: "kubectl get deployment web -o yaml | kubectl mesh uninject -f -",
    },
  ],
  flags: { "Manifests": MANIFESTS },
  exits: MANIFEST_EXITS,
  run: async (world, input) => (await import("./uninject_run.ts")).runUninject(world, input),
});
