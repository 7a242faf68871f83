import { command } from "../../command.ts";

export const KUSTOMIZE = command({
  summary: "Inject as a function of kustomize: ResourceList in and out",
  description:
    "Reads a ResourceList from standard input and writes it to standard output with the sidecar in each workload, as a " +
    "transformer or a generator of kustomize, kpt or Argo CD. Its functionConfig has the flags of inject as keys. Warnings and " +
    "errors are results of the list. If one resource fails, none is injected. No cluster is contacted.",
  surplusHint: "the functionConfig says what is injected, and how",
  examples: [
    {
      title: "A transformer: a file that kustomization.yaml lists",
      command: "apiVersion: kubectl-mesh/v1\n" +
        "kind: Inject\n" +
        "metadata:\n" +
        "  name: mesh\n" +
        "  annotations:\n" +
        "    config.kubernetes.io/function: |\n" +
        "      exec: {path: kubectl-mesh, args: [kustomize]}\n" +
        "spec:\n" +
        "  revision: canary",
    },
    { command: "kustomize build --enable-alpha-plugins --enable-exec" },
  ],
  flags: {},
  exits: { ok: true, failed: "a resource failed, or the ResourceList or its functionConfig is wrong" },
  run: async (world) => (await import("./kustomize_run.ts")).runKustomize(world),
});
