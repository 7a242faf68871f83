import { UsageError } from "../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../golang/flags/mod.ts";
import type { World } from "../../platform/world.ts";
import type { SourceChoice } from "../../explain/mod.ts";
import { VERSION } from "../../version.ts";
import { command, type Input } from "../command.ts";
import { CLUSTER } from "../shared_flags.ts";
import { podChoice, podName } from "./pod_name.ts";

const FLAGS = {
  "Pod": {
    namespace: flag("-n, --namespace NAMESPACE", "Namespace of the pod; without a pod, all pods of it with a proxy", {
      completes: "namespaces",
      excludes: ["local", "all-namespaces"],
      defaultDoc: "from the context",
    }),
    selector: flag("-l, --selector SELECTOR", "All pods with these labels and a proxy", { excludes: ["local"] }),
    allNamespaces: flag("-A, --all-namespaces", "Pods of all namespaces", { excludes: ["local"] }),
    container: flag("-c, --container NAME", "Container of the proxy", {
      excludes: ["local"],
      defaultDoc: "istio-proxy",
    }),
    local: flag("--local", "Read the pod whose network namespace this process is in, without an API server"),
    ephemeral: flag(
      "--ephemeral",
      "Read the rules of the kernel through an ephemeral container with NET_ADMIN; it stays in the pod's list",
      { excludes: ["local", "selector", "all-namespaces"] },
    ),
  },
  "Output": {
    output: flag("-o, --output FILE", "File to write, a .tar.gz that only its owner can read", { type: "file" }),
  },
  "Cluster": flagsWith(CLUSTER, { excludes: ["local"] }),
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const SNAPSHOT = command({
  summary: "Save pods' side of the mesh as one file, without secrets",
  description:
    "Read Envoy's configuration, clusters, listeners, certificates and counters, the rules of the kernel where they can " +
    "be read, the pod, its events, the logs of the mesh's containers, and what istiod says of the pod, and write them as " +
    'one file for "explain -f". Private keys, tokens, and the environment and commands of the application are left out. ' +
    "Without --ephemeral nothing is changed in the pod.",
  usage: "POD | -n NAMESPACE | -l SELECTOR | -A [flags]",
  positional: { usage: "POD", completes: "pods" },
  examples: [
    { command: "kubectl mesh snapshot pod/web -o web.tar.gz" },
    { command: "kubectl mesh snapshot deployment/web -n shop -o web.tar.gz" },
    {
      title: "All pods of a namespace: both ends of its connections",
      command: "kubectl mesh snapshot -n shop -o shop.tar.gz",
    },
    { command: "kubectl mesh explain -f shop.tar.gz pod/cart --to catalog:8080" },
  ],
  flags: FLAGS,
  exits: { ok: "the file is written", failed: "the pod cannot be read, or the file cannot be written", usage: true },
  run: runSnapshot,
});

async function runSnapshot(world: World, { flags, args }: Input<typeof FLAGS>): Promise<number> {
  const source = sourceOf(flags, args);
  const { output } = flags;
  if (output === undefined || output === "-") {
    const problem = output === undefined ? "No file is named to write" : "An archive is not written to standard output";
    throw new UsageError(problem, { hint: "name a file with -o, such as -o web.tar.gz" });
  }
  const { saveSnapshot } = await import("../../explain/mod.ts");
  return await saveSnapshot(world, { source, path: output, program: VERSION });
}

function sourceOf(flags: Flags, args: readonly string[]): SourceChoice {
  const { namespace, container, local, ephemeral } = flags;
  const name = podName(args);
  if (local && name !== undefined) throw new UsageError(`Both the pod "${name}" and --local are named`);
  if (local) return { kind: "local" };
  const all = namespace === undefined
    ? undefined
    : { name, selector: undefined, namespace, allNamespaces: false, container };
  const pods = podChoice(flags, name) ?? all;
  if (pods !== undefined) return { kind: "live", pods, api: flags, ephemeral };
  throw new UsageError("No pod is named", { hint: "name it as pod/NAME or KIND/NAME, or several with -n, -l or -A" });
}
