import { COMMIT, COMMIT_DATE } from "../../../build.ts";
import { flag, type FlagGroups } from "../../../golang/flags/mod.ts";
import { EXIT } from "../../../base/errors.ts";
import { kubeconfigPaths } from "../../../kube/kubeconfig_paths.ts";
import type { World } from "../../../platform/world.ts";
import { VERSION } from "../../../version.ts";
import { command, type Input } from "../../command.ts";
import { say } from "../../failure.ts";
import { CLUSTER, CONTROL_PLANE, KUBECTL_TIMER } from "../../shared_flags.ts";
import type { VersionInfo } from "./version_schema.ts";

const FLAGS = {
  "Output": {
    client: flag("--client", "Print only the version of this program, without a cluster"),
    output: flag("-o, --output json|yaml", "Print the versions as data"),
  },
  "Cluster": {
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, defaultDoc: "all namespaces" },
    ...CLUSTER,
    requestTimeout: flag("--request-timeout TIME", "Timeout of one request; 0 means no timeout", {
      ...KUBECTL_TIMER,
      default: "3s",
    }),
  },
} as const satisfies FlagGroups;

type Flags = Input<typeof FLAGS>["flags"];

export const VERSION_COMMAND = command({
  summary: "Print the version of this program and the versions in the cluster",
  description:
    "Print version, commit, Deno and platform of this program. With a kubeconfig, also print the cluster's " +
    "versions of Kubernetes, istiod and this program's webhook.",
  examples: [
    { command: "kubectl mesh version" },
    { command: "kubectl mesh version --client -o json" },
    { command: "kubectl mesh version --istioNamespace istio-system --context prod" },
  ],
  flags: FLAGS,
  exits: {
    ok: "the versions are printed",
    failed: "a version in the cluster is unknown; the known ones are printed",
    usage: true,
  },
  run: printVersion,
});

async function printVersion(world: World, { flags }: Input<typeof FLAGS>): Promise<number> {
  const { output } = flags;
  const cluster = flags.client || !await hasCluster(world, flags)
    ? undefined
    : await (await import("./cluster.ts")).clusterVersions(world, flags);
  const info = { ...ownVersion(world), ...cluster === undefined ? {} : { cluster } };
  world.stdout.write(await VIEWS[output ?? "text"](info));
  const problems = cluster?.problems ?? [];
  if (output === undefined) { for (const problem of problems) say(world, `error: ${problem}`); }
  return problems.length === 0 ? EXIT.ok : EXIT.failed;
}

/** Whether a flag or kubeconfig selects a cluster. A pod's service account does not count. */
async function hasCluster(world: World, { kubeconfig, context, cluster, user, server }: Flags): Promise<boolean> {
  const isNamed = [kubeconfig, context, cluster, user, server].some((given) => given !== undefined);
  return isNamed || (await kubeconfigPaths(world)).length > 0;
}

const ARCHITECTURES: Readonly<Record<string, string>> = { x86_64: "amd64", aarch64: "arm64" };

function ownVersion({ machine: { os, arch, deno } }: World): VersionInfo {
  return {
    version: VERSION,
    commit: COMMIT?.replace(/-dirty$/, "") ?? null,
    modified: COMMIT?.endsWith("-dirty") ?? null,
    date: COMMIT_DATE ?? null,
    deno,
    platform: `${os}-${ARCHITECTURES[arch] ?? arch}`,
  };
}

const VIEWS: Readonly<Record<"text" | "json" | "yaml", (info: VersionInfo) => string | Promise<string>>> = {
  text: async (info) => {
    const { cluster } = info;
    return ownText(info) + (cluster === undefined ? "" : (await import("./cluster.ts")).clusterText(cluster));
  },
  json: (info) => `${JSON.stringify(info)}\n`,
  yaml: async (info) => (await import("../../../yaml/mod.ts")).toYaml(JSON.parse(JSON.stringify(info))),
};

function ownText({ version, commit, modified, date, deno, platform }: VersionInfo): string {
  const from = commit === null
    ? "unknown: run from sources, or built without git"
    : [commit, ...date === null ? [] : [date], ...modified ? ["with changes"] : []].join(", ");
  return `kubectl-mesh ${version}\ncommit ${from}\nDeno ${deno}, ${platform}\n`;
}
