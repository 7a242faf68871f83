import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, flagsWith } from "../../../golang/flags/mod.ts";
import type { KubeApi, KubeConnection } from "../../../kube/client/mod.ts";
import { tableWidthOf } from "../../../platform/terminal.ts";
import type { World } from "../../../platform/world.ts";
import type { InjectionQuestion, LabelChoice } from "../../../check/mod.ts";
import type { RulesOff } from "../../../inject/mod.ts";
import { command, type Input } from "../../command.ts";
import { nativeOption, readConfiguration } from "../../configuration.ts";
import { say } from "../../failure.ts";
import { findingsFor } from "../../manifests/findings.ts";
import { expandInputs, readingPermissions } from "../../manifests/inputs.ts";
import {
  CLUSTER,
  CONFIGURATION,
  CONTROL_PLANE,
  FILENAMES,
  ISTIO_VERSION,
  NAMESPACE,
  NATIVE_SIDECARS,
  REVISION,
  RULES,
  TEMPLATE_ENV,
} from "../../shared_flags.ts";

const FLAGS = {
  "Workloads": {
    ...FILENAMES,
    namespace: flag(
      "-n, --namespace NAMESPACE",
      "Namespace of the workload; if no workload is named, all workloads in the namespace",
      { ...NAMESPACE, excludes: ["all-namespaces"], defaultDoc: "from the context" },
    ),
    allNamespaces: flag("-A, --all-namespaces", "All workloads of the cluster, one line each"),
    selector: flag("-l, --selector SELECTOR", "With -n or -A: only workloads with these labels"),
    output: flag(
      "-o, --output table|wide|json|yaml",
      "Output format; wide prints all rules, json one object per line",
      { default: "table" },
    ),
  },
  "Configuration (KIND/NAME: from the cluster, -f: built-in)": {
    ...CONFIGURATION,
    fromCluster: flag("--from-cluster", "With -f: use the cluster's webhooks, namespaces and ConfigMaps"),
    ...REVISION,
    ...flagsWith(ISTIO_VERSION, { needs: ["filename", "inject-config"] }),
    ...NATIVE_SIDECARS,
    ...TEMPLATE_ENV,
    ...CONTROL_PLANE,
  },
  "Findings (with -f)": {
    failOn: flag("--fail-on error|warning", "Lowest severity of a finding that causes exit code 1", {
      needs: ["filename"],
    }),
    ignoreRules: RULES.ignoreRules,
  },
  "Cluster": CLUSTER,
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const CHECK_INJECTION = command({
  summary: "Explain why a workload is injected or not",
  description:
    "Print the verdict, the field that decided it, the state of the live pods, and how to change the verdict. " +
    "With -o wide, print every rule in the order of the API server and the webhook. Changes nothing: a pod that " +
    "would be injected goes to the API server as a dry run. With -f and without --from-cluster, no cluster is " +
    "contacted: a snapshot's webhooks decide, or one webhook is assumed.",
  usage: "KIND/NAME | -f FILE | -n NAMESPACE | -A [flags]",
  positional: { usage: "KIND/NAME", completes: "workloads" },
  examples: [
    { command: "kubectl mesh check injection deployment/web -n shop" },
    { command: "kubectl mesh check injection pod/web-7d4b9 -o json" },
    { command: "kubectl mesh check injection -n shop -l app=web" },
    { command: "kubectl mesh check injection -f web.yaml --inject-config injector.yaml" },
    { command: "kubectl mesh check injection -f web.yaml -n shop --from-cluster" },
  ],
  flags: FLAGS,
  exits: {
    ok: "injected or not injected, without a problem",
    failed:
      "an error; the pod is refused; the result is unknown; several webhooks inject the pod or no webhook exists; live " +
      "pods differ from a new pod; or a finding of --fail-on",
    usage: true,
  },
  run: explain,
});

async function explain(world: World, { flags, args }: Input<typeof FLAGS>): Promise<number> {
  const workload = workloadOf(flags, args);
  const check = await import("../../../check/mod.ts");
  if (workload !== undefined) check.readWorkloadName(workload);
  const isAll = workload === undefined && flags.filename.length === 0;
  const selector = flags.selector === undefined ? undefined : check.labelChoice(flags.selector, "--selector");
  const api = await connection(world, flags, isAll || workload !== undefined);
  try {
    world.permissions.keepOnly(readingPermissions(flags, api));
    const findings = await findingsFor(world, flags, await import("../../../inject/mod.ts"));
    const given = await question(world, flags, { workload, api, selector, rulesOff: findings.off });
    const { source, asked } = api === undefined
      ? await snapshotOr(given, flags.namespace)
      : { source: api, asked: given };
    const explanations = await check.explainInjection(world, source, asked);
    const { output } = flags;
    noteAssumption(world, source, output);
    const namesFiles = explanations.length > 1;
    const look = {
      width: check.widthOf(world),
      tableWidth: tableWidthOf(world),
      isWide: output === "wide",
      namesFiles,
    };
    if (output === "json") world.stdout.write(explanations.map(check.explanationJson).join(""));
    else if (output === "yaml") world.stdout.write(explanations.map(check.explanationYaml).join("---\n"));
    else if (isAll) world.stdout.write(check.overviewText(explanations, look));
    else world.stdout.write(explanations.map((each) => check.explanationText(each, look)).join("\n"));
    const hasFailed = explanations.some(({ hasProblem, findings: found = [], warnings }) =>
      hasProblem || found.some(({ severity }) => findings.fails(severity)) ||
      warnings.length > 0 && findings.fails("warning")
    );
    return hasFailed ? EXIT.failed : EXIT.ok;
  } finally {
    api?.close();
  }
}

/** In a table without a cluster, notes which webhook is assumed. The other formats contain the assumed webhook. */
function noteAssumption(world: World, api: KubeApi | undefined, output: Flags["output"]): void {
  if (api !== undefined || output !== "table") return;
  const assumed = "No cluster is read: assuming that one webhook is called for every pod";
  say(world, `note: ${assumed}; with --from-cluster or a snapshot, the cluster's webhooks decide`);
}

/** If `--inject-config` is a snapshot and no other file is given, uses the snapshot as the cluster. `namespace` is `-n`. */
async function snapshotOr(asked: InjectionQuestion, namespace: string | undefined): Promise<Sourced> {
  const { config, values, mesh } = asked.configuration;
  if (config === undefined || values !== undefined || mesh !== undefined) return { source: undefined, asked };
  const { snapshotIn } = await import("../../../inject/mod.ts");
  const snapshot = snapshotIn(config);
  if (snapshot === undefined) return { source: undefined, asked };
  const { snapshotCluster } = await import("../../../check/mod.ts");
  const { api, choice } = snapshotCluster(snapshot, config.file);
  // As for inject, a snapshot has no context, so without -n the namespace of a manifest without one is unknown.
  return { source: api, asked: { ...asked, namespace: namespace ?? "", choice, configuration: {}, snapshot } };
}

/** Where the webhooks come from: a cluster or its snapshot; `undefined` to assume one webhook. */
interface Sourced {
  readonly source: KubeApi | undefined;
  readonly asked: InjectionQuestion;
}

const HINT = { hint: 'see "kubectl mesh check injection --help"' };

/** Returns the named workload; `undefined` if the user named files or all workloads. */
function workloadOf(flags: Flags, args: readonly string[]): string | undefined {
  const [first, ...more] = args;
  refuseMixed(flags, first);
  if (more.length === 0) return first;
  if (first !== undefined && !first.includes("/") && more.length === 1) return `${first}/${more[0]}`;
  throw new UsageError(`Unexpected argument "${more[0]}"`, HINT);
}

/**
 * Throws unless the user named exactly one of a workload, files, and all workloads. With a workload or files, `-n` is
 * their namespace.
 */
function refuseMixed({ filename, namespace, allNamespaces, selector }: Flags, workload: string | undefined): void {
  const hasFiles = filename.length > 0;
  if (workload !== undefined && hasFiles) {
    throw new UsageError(`Both the workload "${workload}" and files are named`, HINT);
  }
  if (workload !== undefined || hasFiles) {
    if (allNamespaces) throw new UsageError("The flag --all-namespaces excludes a workload and files", HINT);
    if (selector !== undefined) throw new UsageError("The flag --selector excludes a workload and files", HINT);
    return;
  }
  if (namespace !== undefined || allNamespaces) return;
  throw new UsageError("No workload is named", {
    hint: "give KIND/NAME, files with -f, or all workloads with -n NAMESPACE or -A",
  });
}

async function connection(world: World, flags: Flags, needsCluster: boolean): Promise<KubeConnection | undefined> {
  if (!needsCluster && !flags.fromCluster) return undefined;
  const { connect } = await import("../../../kube/client/mod.ts");
  return await connect(world, flags);
}

interface Asked {
  readonly workload: string | undefined;
  readonly api: KubeConnection | undefined;
  readonly selector: LabelChoice | undefined;
  readonly rulesOff: RulesOff;
}

async function question(world: World, flags: Flags, asked: Asked): Promise<InjectionQuestion> {
  const { workload, api, selector, rulesOff } = asked;
  const { filename, revision, istioNamespace, injectConfigMapName, meshConfigMapName } = flags;
  const isAll = workload === undefined && filename.length === 0;
  return {
    workload,
    all: isAll ? { namespace: flags.namespace, selector } : undefined,
    inputs: filename.length === 0 ? [] : await expandInputs(world, filename, flags.recursive),
    namespace: flags.namespace ?? api?.namespace ?? "default",
    choice: { revision, istioNamespace, injectConfigMapName, meshConfigMapName },
    configuration: await readConfiguration(world, flags),
    istioVersion: flags.istioVersion,
    nativeSidecars: nativeOption(flags.nativeSidecars),
    rulesOff,
    templateEnv: { names: flags.templateEnv, note: (text) => say(world, `note: ${text}`) },
  };
}
