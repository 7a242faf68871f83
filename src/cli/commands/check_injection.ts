import { EXIT, MeshError, UsageError } from "../../core/errors.ts";
import type { KubeConnection } from "../../core/kube/client/mod.ts";
import type { PermissionName, World } from "../../core/world/world.ts";
import type { InjectionQuestion } from "../../check/mod.ts";
import type { Source } from "../../inject/mod.ts";
import { choiceValue } from "../flag_values.ts";
import { type Flag, readFlags, type Reading } from "../flags.ts";
import { helpText } from "../help.ts";
import { expandInputs } from "../inputs.ts";
import { CONNECTION_FLAGS } from "./check_flags.ts";

const PROGRAM = "kubectl mesh check injection";

/** A values file of Istio's chart is some KB, its injector configuration some 100 KB. */
const MAX_CONFIG_BYTES = 16 * 1024 * 1024;

const WHAT_FLAGS: readonly Flag[] = [
  { name: "namespace", short: "n", value: "namespace", help: "namespace of the workload (that of the context)" },
  {
    name: "filename",
    short: "f",
    value: "file",
    help: "workloads of a file, directory, https URL or - in place of one in the cluster; repeatable, comma lists",
  },
  { name: "recursive", short: "R", help: "read the directories below a directory too" },
  { name: "output", short: "o", value: "table|json", help: "json is one object a line (default table)" },
];

const CONFIGURATION_FLAGS: readonly Flag[] = [
  { name: "inject-config", value: "file", help: "injector configuration, its ConfigMap, or a template" },
  { name: "values", value: "file", help: "values of the configuration, YAML or JSON" },
  { name: "mesh-config", value: "file", help: "mesh configuration, or its ConfigMap" },
  { name: "from-cluster", help: "with -f: the cluster's webhooks, namespaces and ConfigMaps decide" },
  { name: "revision", short: "r", value: "revision", help: 'revision of the control plane (default "default")' },
  { name: "native-sidecars", help: "the sidecar is an init container that keeps running" },
];

const CLUSTER_FLAGS: readonly Flag[] = [
  {
    name: "istioNamespace",
    short: "i",
    value: "namespace",
    help: 'that of the control plane, where no webhook tells it (default "istio-system")',
  },
  {
    name: "injectConfigMapName",
    value: "name",
    help: "ConfigMap of the injector (istio-sidecar-injector, or with -REVISION)",
  },
  { name: "meshConfigMapName", value: "name", help: "ConfigMap of the mesh (istio, or with -REVISION)" },
  ...CONNECTION_FLAGS,
];

const GROUPS: Readonly<Record<string, readonly Flag[]>> = {
  "What is asked:": WHAT_FLAGS,
  "Configuration (the cluster's for KIND/NAME, built-in for -f, unless given):": CONFIGURATION_FLAGS,
  "Which cluster:": CLUSTER_FLAGS,
};

/** `kubectl mesh check injection KIND/NAME|-f FILE [flags]`; the exit code is 1 if something is wrong. */
export async function checkInjection(world: World, args: readonly string[]): Promise<number> {
  const flags = readFlags(Object.values(GROUPS).flat(), args, PROGRAM);
  if (flags.isOn("help")) {
    world.stdout.write(help());
    return EXIT.ok;
  }
  const output = choiceValue("output", flags.text("output") ?? "table", ["table", "json"]);
  const workload = workloadOf(flags);
  const room = await import("../../check/mod.ts");
  if (workload !== undefined) room.readWorkloadName(workload);
  const api = await connection(world, flags, workload);
  try {
    world.permissions.keepOnly(permissionsFor(flags, api));
    const explanations = await room.explainInjection(world, api, await question(world, flags, { workload, api }));
    const text = output === "json" ? room.explanationJson : room.explanationText;
    world.stdout.write(explanations.map(text).join(output === "json" ? "" : "\n"));
    return explanations.some(({ hasProblem }) => hasProblem) ? EXIT.failed : EXIT.ok;
  } finally {
    api?.close();
  }
}

/** The workload that is named, or none where files are. */
function workloadOf(flags: Reading): string | undefined {
  const hint = `see "${PROGRAM} --help"`;
  const [first, ...more] = [...flags.words, ...flags.rest ?? []];
  const files = flags.all("filename");
  if (first === undefined && files.length === 0) {
    throw new UsageError("No workload is named", { hint: "name it as KIND/NAME, or files with -f" });
  }
  if (first !== undefined && files.length > 0) {
    throw new UsageError(`Both the workload "${first}" and files are named`, { hint });
  }
  if (more.length === 0) return first;
  const isPair = first !== undefined && !first.includes("/") && more.length === 1;
  if (isPair) return `${first}/${more[0]}`;
  throw new UsageError(`Unexpected argument "${more[0]}"`, { hint });
}

async function connection(
  world: World,
  flags: Reading,
  workload: string | undefined,
): Promise<KubeConnection | undefined> {
  if (workload === undefined && !flags.isOn("from-cluster")) return undefined;
  const { connect } = await import("../../core/kube/client/mod.ts");
  return await connect(world, {
    kubeconfig: flags.text("kubeconfig"),
    context: flags.text("context"),
    cluster: flags.text("cluster"),
    user: flags.text("user"),
  });
}

/** What a manifest or a template could misuse is given up before the first of them is read. */
function permissionsFor(flags: Reading, api: KubeConnection | undefined): PermissionName[] {
  const isRemote = fileNames(flags).some((name) => name.startsWith("https://"));
  return [...new Set<PermissionName>(["read", "env", ...isRemote ? ["net"] as const : [], ...api?.permissions ?? []])];
}

function fileNames(flags: Reading): string[] {
  return flags.all("filename").flatMap((value) => value.split(","));
}

interface Asked {
  readonly workload: string | undefined;
  readonly api: KubeConnection | undefined;
}

async function question(world: World, flags: Reading, { workload, api }: Asked): Promise<InjectionQuestion> {
  const source = (name: string) => readSource(world, flags.text(name));
  const files = fileNames(flags);
  return {
    workload,
    inputs: files.length === 0 ? [] : await expandInputs(world, files, flags.isOn("recursive")),
    namespace: flags.text("namespace") ?? api?.namespace ?? "default",
    choice: {
      revision: flags.text("revision"),
      istioNamespace: flags.text("istioNamespace"),
      injectConfigMapName: flags.text("injectConfigMapName"),
      meshConfigMapName: flags.text("meshConfigMapName"),
    },
    configuration: {
      config: await source("inject-config"),
      values: await source("values"),
      mesh: await source("mesh-config"),
    },
    nativeSidecars: flags.isOn("native-sidecars") ? true : undefined,
  };
}

async function readSource(world: World, path: string | undefined): Promise<Source | undefined> {
  if (path === undefined) return undefined;
  if (path === "") throw new MeshError("The name of a configuration file is empty");
  return { text: await world.files.readText(path, MAX_CONFIG_BYTES), file: path };
}

function help(): string {
  return helpText({
    usage: `${PROGRAM} KIND/NAME | -f FILE [flags]`,
    description:
      "Tell why a workload is injected or not: every rule in the order in which API server and webhook ask it, the " +
      "field that decided, what the live pods have, and the commands that change it. Nothing is changed. With -f no " +
      "cluster is contacted without --from-cluster; then one webhook is taken to be called.",
    flags: GROUPS,
    after: AFTER,
  });
}

const AFTER = `
Exit codes:
  0 answered, 1 it failed or something is wrong (a webhook refuses the pod, several inject it, live pods
  differ from the next one, there is no webhook), 2 the command line is wrong

Examples:
  kubectl mesh check injection deployment/web -n shop
  kubectl mesh check injection pod/web-7d4b9 -o json
  kubectl mesh check injection -f web.yaml --inject-config injector.yaml
  kubectl mesh check injection -f web.yaml -n shop --from-cluster
`;
