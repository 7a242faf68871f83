import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups } from "../../../golang/flags/mod.ts";
import type { KubeConnection } from "../../../kube/client/mod.ts";
import { tableWidthOf } from "../../../platform/terminal.ts";
import type { World } from "../../../platform/world.ts";
import type { UpgradeQuestion } from "../../../check/mod.ts";
import { command, type Input } from "../../command.ts";
import { nativeOption, readConfiguration } from "../../configuration.ts";
import { CLUSTER, CONFIGURATION, CONTROL_PLANE, NATIVE_SIDECARS, WORKLOADS } from "../../shared_flags.ts";

const FLAGS = {
  "Upgrade": {
    to: flag(
      "--to FILE|REVISION",
      "New configuration: an injector configuration, its ConfigMap, a template, a revision or a tag",
      {
        completes: "revisions",
      },
    ),
    values: CONFIGURATION.values,
    meshConfig: CONFIGURATION.meshConfig,
    ...NATIVE_SIDECARS,
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
  },
  "Workloads": {
    ...WORKLOADS,
    selector: flag("-l, --selector SELECTOR", "Only pods with these labels, in kubectl's syntax"),
    output: flag("-o, --output text|json", "Output format", { default: "text" }),
  },
  "Cluster": CLUSTER,
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const CHECK_UPGRADE = command({
  summary: "Show what a new configuration changes in running sidecars",
  description:
    "Render the pod template of each workload with running sidecars, and compare the injected parts with the " +
    "running pods: images, arguments, environment, resources, volumes, security context. Prints equal differences " +
    "of several workloads once. Changes nothing.\n" +
    "--to with a slash or a dot is a file; any other value is a revision or tag of the cluster's webhooks. " +
    "Without files, values and mesh configuration come from the control plane that injected the pods.",
  usage: "--to FILE|REVISION [flags]",
  examples: [
    { command: "kubectl mesh check upgrade --to canary" },
    { command: "kubectl mesh check upgrade --to injector.yaml --values values.yaml -n shop" },
    { command: "kubectl mesh check upgrade --to ./injector.yaml -l app=web -o json" },
  ],
  flags: FLAGS,
  exits: {
    ok: "nothing changes",
    failed: "something changes",
    usage: "an error, an unknown result, or a wrong command line",
  },
  isComparison: () => true,
  run: checkUpgrade,
});

async function checkUpgrade(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { to: name } = flags;
  if (name === undefined || name === "") {
    throw new UsageError("The flag --to is missing", { hint: "set it to a file, a revision or a tag" });
  }
  refuseUnused(name, flags);
  const [{ connect }, { labelChoice, upgradeJson, upgradeOf, upgradeText }] = await Promise.all([
    import("../../../kube/client/mod.ts"),
    import("../../../check/mod.ts"),
  ]);
  const selector = flags.selector === undefined ? undefined : labelChoice(flags.selector, "--selector");
  const files = isRevision(name) ? undefined : await readConfiguration(world, { ...flags, injectConfig: name });
  const api: KubeConnection = await connect(world, flags);
  world.permissions.keepOnly(api.permissions);
  try {
    const { namespace, istioNamespace, nativeSidecars } = flags;
    const question: UpgradeQuestion = {
      to: files === undefined ? { revision: name } : { files },
      name,
      namespace,
      selector,
      nativeSidecars: nativeOption(nativeSidecars),
    };
    const scope = { namespace: undefined, istioNamespace, revision: undefined };
    const upgrade = await upgradeOf({ api, clock: world.clock, scope }, question);
    world.stdout.write(flags.output === "json" ? upgradeJson(upgrade) : upgradeText(upgrade, tableWidthOf(world)));
    if (upgrade.differs === null) return EXIT.usage;
    return upgrade.differs ? EXIT.failed : EXIT.ok;
  } finally {
    api.close();
  }
}

/** Whether a name is a revision or tag. Their names are DNS labels. */
function isRevision(name: string): boolean {
  return /^[a-z0-9]([-a-z0-9]*[a-z0-9])?$/i.test(name);
}

function refuseUnused(name: string, { values, meshConfig }: Flags): void {
  if (!isRevision(name) || (values === undefined && meshConfig === undefined)) return;
  throw new UsageError(`"${name}" is a revision, which --values and --mesh-config cannot change`, {
    hint: `to use a file of this name, write "./${name}"`,
  });
}
