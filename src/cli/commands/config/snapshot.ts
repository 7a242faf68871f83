import { EXIT } from "../../../base/errors.ts";
import { flag, type FlagGroups } from "../../../golang/flags/mod.ts";
import { startProgress, withSoFar } from "../../../platform/progress.ts";
import type { World } from "../../../platform/world.ts";
import { command, type Input } from "../../command.ts";
import { say } from "../../failure.ts";
import { openOutput } from "../../manifests/output.ts";
import { CLUSTER, CONTROL_PLANE } from "../../shared_flags.ts";

const FLAGS = {
  "Output": {
    output: flag("-o, --output FILE", "File to write atomically, or - for standard output", {
      type: "file",
      default: "-",
    }),
  },
  "Content of the snapshot": {
    namespace: flag("-n, --namespace NAMESPACES", "Include the labels of these namespaces only", {
      type: "list",
      completes: "namespaces",
      defaultDoc: "all namespaces",
    }),
    ...CONTROL_PLANE,
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
  },
  "Cluster": CLUSTER,
} as const satisfies FlagGroups;

export const CONFIG_SNAPSHOT = command({
  summary: "Save the injection configuration of a cluster as one file",
  description:
    "Write the configuration of every revision, the selectors of the injection webhooks, revision tags, namespace " +
    "labels and kubelet versions as one YAML file. --inject-config reads the file where no cluster is available, " +
    "such as in CI. The same state of the cluster gives the same file, so it can be kept in git. What looks like a " +
    "secret is replaced. A short secret without any sign, such as a PIN in a variable, stays: check the file before " +
    "you share it.\n" + "The file and standard error name the parts that you have no permission to read.",
  examples: [
    { command: "kubectl mesh config snapshot -o cluster.yaml" },
    {
      title: "In CI, without the cluster",
      command: "kubectl mesh inject -f manifests/ --inject-config cluster.yaml --as-webhook",
    },
    {
      title: "With permission to read some namespaces only",
      command: "kubectl mesh config snapshot -n shop,pay -o cluster.yaml",
    },
  ],
  flags: FLAGS,
  exits: {
    ok: "the snapshot is complete",
    failed: "an error, and no file is written; or permissions are missing, and the file lists the missing parts",
    usage: true,
  },
  run: runSnapshot,
});

const RIGHTS = 'hint: "kubectl mesh check --rbac" prints the needed rights';

async function runSnapshot(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const target = { format: "yaml", file: flags.output === "-" ? undefined : flags.output } as const;
  const [{ connect }, { snapshotInjection }, { snapshotText }] = await Promise.all([
    import("../../../kube/client/mod.ts"),
    import("../../../check/mod.ts"),
    import("../../../inject/mod.ts"),
  ]);
  const api = await connect(world, flags);
  if (target.file !== undefined) world.files.tidyTemporary(target.file);
  world.permissions.keepOnly([...new Set([...api.permissions, "write"] as const)]);
  using output = await openOutput(world, target, false);
  const progress = startProgress(world, { one: "request", verb: "answered" });
  try {
    const { istioNamespace, injectConfigMapName, meshConfigMapName, namespace: namespaces } = flags;
    const controlPlane = { istioNamespace, injectConfigMapName, meshConfigMapName };
    const saved = snapshotInjection(api, { controlPlane, namespaces }, progress);
    const snapshot = await Promise.race([saved, withSoFar(output.interrupted, progress)]);
    progress.end();
    output.write(snapshotText(snapshot));
    output.commit();
    const needs = [...new Set(snapshot.unreadable.map(({ needs }) => needs))];
    for (const text of snapshot.withheld) say(world, `note: a secret is replaced with "[redacted]": ${text}`);
    if (needs.length === 0) return EXIT.ok;
    say(world, `error: The snapshot is incomplete: it needs ${needs.join(", ")}`, `  ${RIGHTS}`);
    return EXIT.failed;
  } finally {
    progress.end();
    api.close();
  }
}
