import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, TIMER, valuesAsFlags } from "../../../golang/flags/mod.ts";
import { columnsOf } from "../../../platform/terminal.ts";
import type { World } from "../../../platform/world.ts";
import { command, type Input } from "../../command.ts";
import { CLUSTER, CONTROL_PLANE, REVISION } from "../../shared_flags.ts";

export const CATEGORIES = [
  "kubernetes-api",
  "injector-configuration",
  "webhook",
  "namespaces",
  "workloads",
  "security",
  "data-plane",
] as const;

const FLAGS = {
  "Checks": {
    only: flag("--only IDS", "Run only these: ids of checks, or categories", {
      type: "list",
      completes: "checks and categories",
    }),
    skip: flag("--skip IDS", "Leave these out: ids of checks, or categories", {
      type: "list",
      completes: "checks and categories",
    }),
    pre: flag("--pre", "Check a cluster before the mesh is installed"),
    namespace: flag("-n, --namespace NAMESPACE", "Namespace of the workloads", {
      completes: "namespaces",
      excludes: ["all-namespaces"],
      defaultDoc: "all",
    }),
    allNamespaces: flag("-A, --all-namespaces", "Workloads of all namespaces"),
    selector: flag("-l, --selector SELECTOR", "Only workloads and namespaces with these labels, as kubectl reads them"),
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
    revision: { ...REVISION.revision, defaultDoc: "all" },
  },
  "Output": {
    output: flag(
      "-o, --output table|wide|short|json|yaml|junit",
      "Output format; short has what is wrong, on one screen, wide has everything",
      { default: "table" },
    ),
    failOn: flag("--fail-on error|warning|unknown", "Lowest result that makes the exit code 1", {
      default: "error",
    }),
    wait: flag("--wait TIME", "Repeat checks that failed for this long", { ...TIMER, default: "0" }),
    watch: flag("--watch", "Repeat the checks and redraw the results until all pass", {
      excludes: ["wait", "fix"],
    }),
    timeout: flag("--timeout TIME", "End --watch after this time; 0 means never", {
      ...TIMER,
      default: "0",
      needs: ["watch"],
    }),
    explain: flag("--explain ID", "Print what a check means and how to fix it, and contact no cluster", {
      completes: "checks",
    }),
    list: flag("--list", "Print ids and categories of the checks, and contact no cluster"),
    rbac: flag("--rbac", "Print the roles that the checks need, and contact no cluster"),
  },
  "Fixes": {
    fix: flag("--fix", "Run the advice that has commands, after asking for each, and check again"),
    yes: flag("-y, --yes", "With --fix: ask only about advice that has a risk", { needs: ["fix"] }),
  },
  "Cluster": CLUSTER,
} as const satisfies FlagGroups;

const { requestTimeout: _own, ...OF_KUBECTL } = CLUSTER;

export const CHECK = command({
  summary: "Check the cluster, and the workloads in the mesh",
  description:
    "Check whether the cluster is ready for the mesh, and whether its workloads are in it. Without --fix nothing is changed: " +
    "one pod goes to the API server as a dry run, to see whether it reaches the webhook.\n" +
    `Categories: ${CATEGORIES.join(", ")}.`,
  positional: { usage: "[CATEGORY...]", allowed: CATEGORIES },
  commands: {
    injection: async () => (await import("./injection.ts")).CHECK_INJECTION,
    upgrade: async () => (await import("./upgrade.ts")).CHECK_UPGRADE,
  },
  examples: [
    { command: "kubectl mesh check" },
    { command: "kubectl mesh check webhook --wait 2m" },
    { command: "kubectl mesh check workloads -n shop -o short --fail-on warning" },
    { command: "kubectl mesh check -o json --skip data-plane" },
    { command: "kubectl mesh check -n shop --fix" },
    { command: "kubectl mesh check webhook --watch --timeout 5m" },
    { command: "kubectl mesh check --explain webhook-reachable" },
  ],
  flags: FLAGS,
  exits: {
    ok: "no check failed",
    failed: "a check failed, nothing of a category could be checked, or no cluster is configured",
    usage: true,
  },
  run: runCheck,
});

async function runCheck(world: World, { flags, args }: Input<typeof FLAGS>): Promise<number> {
  const { checkCluster, explanationOf, labelChoice, listText, rbacText } = await import("../../../check/mod.ts");
  const { namespace, istioNamespace, revision, output, failOn, wait, only, skip, pre } = flags;
  const width = world.stdout.isTerminal ? columnsOf(world) : undefined;
  if (flags.explain !== undefined) return print(world, await explanationOf(flags.explain, width));
  const choice = { categories: args, only, skip, pre };
  if (flags.list) return print(world, listText(choice, width));
  const selector = flags.selector === undefined ? undefined : labelChoice(flags.selector, "--selector");
  const scope = { namespace, istioNamespace, revision, selector };
  if (flags.rbac) return print(world, rbacText(scope));
  const fix = flags.fix ? { yes: flags.yes, clusterFlags: valuesAsFlags({ "Cluster": OF_KUBECTL }, flags) } : undefined;
  if (fix?.yes === false && !world.stdin.isTerminal) {
    throw new UsageError("--fix asks before it runs a command, and nobody can answer", { hint: "see --yes" });
  }
  const watch = flags.watch ? flags.timeout : undefined;
  return await checkCluster(world, { connection: flags, choice, scope, output, failOn, wait, fix, watch });
}

function print(world: World, text: string): number {
  world.stdout.write(text);
  return EXIT.ok;
}
