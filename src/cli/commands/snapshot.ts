import { UsageError } from "../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../golang/flags/mod.ts";
import type { World } from "../../platform/world.ts";
import type { SourceChoice } from "../../explain/mod.ts";
import { VERSION } from "../../version.ts";
import { command, type Input } from "../command.ts";
import { CLUSTER, NAMESPACE } from "../shared_flags.ts";
import { podChoice, podName } from "./pod_name.ts";

const FLAGS = {
  "Pod": {
    namespace: flag(
      "-n, --namespace NAMESPACE",
      "Namespace of the pod; if no pod is named, all pods with a proxy in the namespace",
      { ...NAMESPACE, excludes: ["local", "all-namespaces"], defaultDoc: "from the context" },
    ),
    selector: flag("-l, --selector SELECTOR", "All pods with these labels and a proxy", { excludes: ["local"] }),
    allNamespaces: flag("-A, --all-namespaces", "Pods of all namespaces", { excludes: ["local"] }),
    container: flag("-c, --container NAME", "Container of the proxy", {
      excludes: ["local"],
      defaultDoc: "istio-proxy",
    }),
    local: flag("--local", "Read the pod of this process's network namespace, without an API server"),
    ephemeral: flag(
      "--ephemeral",
      "Read the kernel's rules through an ephemeral container with NET_ADMIN, which stays listed in the pod",
      { excludes: ["local", "selector", "all-namespaces"] },
    ),
  },
  "Output": {
    output: flag("-o, --output FILE", "Archive to write (.tar.gz), readable only by its owner", { type: "file" }),
  },
  "Cluster": flagsWith(CLUSTER, { excludes: ["local"] }),
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const SNAPSHOT = command({
  summary: "Save the mesh state of pods as one file, without secrets",
  description:
    "Read Envoy's configuration, clusters, listeners, certificates and counters, the kernel's rules if they are " +
    "readable, the pod, its events, the logs of the mesh's containers, and istiod's state of the pod. Write them " +
    'as one file for "explain -f", without private keys, tokens, and the environment and commands of the ' +
    "application. Changes nothing in the pod without --ephemeral.",
  usage: "POD | -n NAMESPACE | -l SELECTOR | -A [flags]",
  positional: { usage: "POD", completes: "pods" },
  examples: [
    { command: "kubectl mesh snapshot pod/web -o web.tar.gz" },
    { command: "kubectl mesh snapshot deployment/web -n shop -o web.tar.gz" },
    {
      title: "All pods of a namespace, with both ends of their connections",
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
    const problem = output === undefined
      ? "No output file is given"
      : "An archive cannot be written to standard output";
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
  throw new UsageError("No pod is named", { hint: "give pod/NAME or KIND/NAME, or several pods with -n, -l or -A" });
}
