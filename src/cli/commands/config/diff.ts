import { counted, visible } from "../../../base/text/mod.ts";
import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import { isPlain } from "../../../platform/terminal.ts";
import type { World } from "../../../platform/world.ts";
import type { Difference, NamespaceDifference, PodPair, Side } from "../../../check/mod.ts";
import { command, type Input } from "../../command.ts";
import { nativeOption, readConfiguration } from "../../configuration.ts";
import { say } from "../../failure.ts";
import { expandInputs, readingPermissions } from "../../manifests/inputs.ts";
import type { UnifiedDiff } from "../../manifests/unified_diff.ts";
import { CLUSTER, CONFIGURATION, CONTROL_PLANE, FILENAMES, NAMESPACE, NATIVE_SIDECARS } from "../../shared_flags.ts";

const FLAGS = {
  "Pods (samples unless files are given)": {
    ...FILENAMES,
    namespace: flag("-n, --namespace NAMESPACE", "Namespace for resources without a namespace", {
      ...NAMESPACE,
      default: "default",
    }),
  },
  "Configurations": {
    values: { ...CONFIGURATION.values, doc: "Values for files without values" },
    meshConfig: { ...CONFIGURATION.meshConfig, doc: "Mesh configuration for files without a mesh configuration" },
    ...NATIVE_SIDECARS,
  },
  "Cluster (for rev:NAME)": flagsWith({
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
    ...CLUSTER,
  }, { needsArgument: "rev:NAME" }),
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const CONFIG_DIFF = command({
  summary: "Compare the pods that two configurations produce",
  description:
    "Inject the same pods with both configurations, and print a unified diff of the results. Equal differences of several pods are printed once. " +
    "With a snapshot and rev:NAME, or with two snapshots, also compare for each namespace which revision injects a pod " +
    "without labels, and whether its sidecar is native. " +
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
  flags: FLAGS,
  exits: {
    ok: "the pods are the same, and the namespaces of snapshots",
    failed: "pods or namespaces differ, or only one side has a revision or a namespace",
    usage: "an error, a wrong command line, or no difference where some namespaces cannot be compared",
  },
  isComparison: () => true,
  run: (world, { flags, args }) => compare(world, flags, namesOf(args)),
});

function namesOf([a, b, ...more]: readonly string[]): readonly [string, string] {
  const hint = 'see "kubectl mesh config diff --help"';
  if (more.length > 0) throw new UsageError(`Unexpected argument "${more[0]}"`, { hint });
  if (a === undefined || b === undefined) {
    throw new UsageError(a === undefined ? "No configurations are given" : `"${a}" is the only configuration`, {
      hint: "give two: files, snapshots, or rev:NAME",
    });
  }
  return [a, b];
}

async function compare(world: World, flags: Flags, names: readonly [string, string]): Promise<number> {
  const { differenceOf, fileSide, namespaceDifference, revisionSide } = await import("../../../check/mod.ts");
  const { colored, UnifiedDiff } = await import("../../manifests/unified_diff.ts");
  const diff = await UnifiedDiff.loaded();
  const isLive = names.some((name) => REVISION.test(name));
  const inputs = flags.filename.length === 0 ? [] : await expandInputs(world, flags.filename, flags.recursive);
  const api = isLive ? await (await import("../../../kube/client/mod.ts")).connect(world, flags) : undefined;
  try {
    world.permissions.keepOnly(readingPermissions(flags, api));
    const { values, mesh } = await readConfiguration(world, { ...flags, injectConfig: undefined });
    const options = {
      clock: world.clock,
      given: { values, mesh },
      nativeSidecars: nativeOption(flags.nativeSidecars) ?? false,
    };
    const side = async (name: string): Promise<Side> => {
      const [, revision] = REVISION.exec(name) ?? [];
      if (revision === undefined || api === undefined) {
        return await fileSide(name, await fileOf(world, name), options);
      }
      const scope = { namespace: undefined, istioNamespace: flags.istioNamespace, revision: undefined };
      return await revisionSide(name, revision, { api, clock: world.clock, scope }, options);
    };
    const sides = [await side(names[0]), await side(names[1])] as const;
    const found = await differenceOf(sides, inputs, flags.namespace);
    const { nativeChoice } = await import("../../../inject/mod.ts");
    const native = nativeChoice(nativeOption(flags.nativeSidecars), undefined);
    const namespaces = await namespaceDifference(sides, { api, clock: world.clock, native });
    return report(
      world,
      found,
      namespaces,
      (pairs) => groupsOf(pairs, diff, names).map(isPlain(world) ? String : colored),
    );
  } finally {
    api?.close();
  }
}

/** Prints the differences. Returns the exit code of a comparison. */
function report(
  world: World,
  { pods, missing }: Difference,
  namespaces: NamespaceDifference | undefined,
  groups: (pairs: readonly PodPair[]) => readonly string[],
): number {
  const { pairs = [], unknown = [], missing: more = [] } = namespaces ?? {};
  const [podChanges, namespaceChanges] = [changedIn(pods), changedIn(pairs)];
  for (const group of [...groups(podChanges), ...groups(namespaceChanges)]) world.stdout.write(group);
  say(world, ...missing, ...more);
  say(world, countText(podChanges.length, counted(pods.length, "pod")));
  if (namespaces !== undefined) say(world, countText(namespaceChanges.length, counted(pairs.length, "namespace")));
  for (const why of unknown) say(world, `error: Cannot compare all namespaces: ${why}`);
  const count = [...podChanges, ...namespaceChanges, ...missing, ...more].length;
  if (count > 0) return EXIT.failed;
  return unknown.length > 0 ? EXIT.usage : EXIT.ok;
}

function changedIn(pairs: readonly PodPair[]): readonly PodPair[] {
  return pairs.filter(({ before, after }) => before !== after);
}

function countText(changed: number, all: string): string {
  return `${changed} of ${all} ${changed === 1 ? "differs" : "differ"}`;
}

const REVISION = /^rev:(.+)$/;

/** Parses the name of a file, or `FILE@REVISION` if no file has that name. */
async function fileOf(world: World, name: string) {
  const at = name.lastIndexOf("@");
  const isWhole = at <= 0 || await world.files.stat(name) !== undefined;
  const [path, revision] = isWhole ? [name, undefined] : [name.slice(0, at), name.slice(at + 1)];
  const { config } = await readConfiguration(world, { injectConfig: path, values: undefined, meshConfig: undefined });
  if (config === undefined) throw new UsageError("The name of a configuration is empty");
  return { config, revision };
}

/**
 * Groups the pods that have the same changes. Returns one diff per group, below the names of the group's pods. The
 * largest group comes first.
 */
function groupsOf(pods: readonly PodPair[], diff: UnifiedDiff, [a, b]: readonly [string, string]): readonly string[] {
  const all = pods.map((pod) => {
    const text = diff.between({ name: a, text: pod.before }, { name: b, text: pod.after });
    return { name: pod.name, text, key: text.split("\n").filter((line) => /^[-+]/.test(line)).join("\n") };
  });
  const groups = [...Map.groupBy(all, ({ key }) => key).values()].toSorted((one, other) => other.length - one.length);
  return groups.map((group) => `# ${group.map(({ name }) => visible(name)).join("\n# ")}\n${group[0]?.text ?? ""}`);
}
