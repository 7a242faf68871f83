import { command } from "../../command.ts";

export const KUSTOMIZE = command({
  summary: "Inject the items of a ResourceList, as a kustomize function",
  description:
    "Reads a ResourceList from standard input and writes it to standard output with the sidecar in each workload, " +
    "as a transformer or a generator of kustomize, kpt or Argo CD. Its functionConfig accepts the flags of inject " +
    "as keys. Warnings and errors become results in the list. If a resource fails, no resource is injected. No " +
    "cluster is contacted.",
  surplusHint: "configure the injection in the functionConfig",
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
