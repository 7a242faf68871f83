import { EXIT, UsageError } from "../../../base/errors.ts";
import { flag, type FlagGroups, TIMER, valuesAsFlags } from "../../../golang/flags/mod.ts";
import { columnsOf, tableWidthOf } from "../../../platform/terminal.ts";
import type { World } from "../../../platform/world.ts";
import { command, type Input } from "../../command.ts";
import { CLUSTER, CONTROL_PLANE, REVISION, WORKLOADS } from "../../shared_flags.ts";

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
    only: flag("--only IDS", "Run only the checks with these ids or categories", {
      type: "list",
      completes: "checks and categories",
    }),
    skip: flag("--skip IDS", "Skip the checks with these ids or categories", {
      type: "list",
      completes: "checks and categories",
    }),
    pre: flag("--pre", "Check a cluster before the mesh is installed"),
    ...WORKLOADS,
    selector: flag("-l, --selector SELECTOR", "Only workloads and namespaces with these labels, in kubectl's syntax"),
    istioNamespace: { ...CONTROL_PLANE.istioNamespace, default: "istio-system" },
    revision: { ...REVISION.revision, defaultDoc: "all revisions" },
  },
  "Output": {
    output: flag(
      "-o, --output table|wide|short|json|yaml|junit",
      "Output format; short prints only problems, on one screen; wide prints everything",
      { default: "table" },
    ),
    failOn: flag("--fail-on error|warning|unknown", "Lowest result that causes exit code 1", {
      default: "error",
    }),
    wait: flag("--wait TIME", "Repeat failed checks for at most this long", { ...TIMER, default: "0" }),
    watch: flag("--watch", "Repeat the checks and redraw the results until all pass", {
      excludes: ["wait", "fix"],
    }),
    timeout: flag("--timeout TIME", "Stop --watch after this time; 0 means never", {
      ...TIMER,
      default: "0",
      needs: ["watch"],
    }),
    explain: flag("--explain ID", "Print the meaning of a check and its fix, without a cluster", {
      completes: "checks",
    }),
    list: flag("--list", "Print ids and categories of the checks, without a cluster"),
    rbac: flag("--rbac", "Print the roles that the checks need, without a cluster"),
  },
  "Fixes": {
    fix: flag("--fix", "Run the commands of the advice after a prompt for each, then check again"),
    yes: flag("-y, --yes", "With --fix: prompt only for risky advice", { needs: ["fix"] }),
  },
  "Cluster": CLUSTER,
} as const satisfies FlagGroups;

const { requestTimeout: _own, ...OF_KUBECTL } = CLUSTER;

export const CHECK = command({
  summary: "Check the cluster, and the workloads in the mesh",
  description:
    "Check whether the cluster is ready for the mesh, and whether its workloads are in the mesh. Changes nothing " +
    "without --fix; a dry run of one pod tests whether the API server reaches the webhook.\n" +
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
    failed: "a check failed, no check of a category could run, or no cluster is configured",
    usage: true,
  },
  run: runCheck,
});

async function runCheck(world: World, { flags, args }: Input<typeof FLAGS>): Promise<number> {
  const { checkCluster, explanationOf, labelChoice, listText, rbacText } = await import("../../../check/mod.ts");
  const { namespace, istioNamespace, revision, output, failOn, wait, only, skip, pre } = flags;
  if (flags.explain !== undefined) return print(world, await explanationOf(flags.explain, columnsOf(world)));
  const choice = { categories: args, only, skip, pre };
  if (flags.list) return print(world, listText(choice, tableWidthOf(world)));
  const selector = flags.selector === undefined ? undefined : labelChoice(flags.selector, "--selector");
  const scope = { namespace, istioNamespace, revision, selector };
  if (flags.rbac) return print(world, rbacText(scope));
  const fix = flags.fix ? { yes: flags.yes, clusterFlags: valuesAsFlags({ "Cluster": OF_KUBECTL }, flags) } : undefined;
  if (fix?.yes === false && !world.stdin.isTerminal) {
    throw new UsageError("The flag --fix needs a terminal, because it prompts before each command", {
      hint: "add --yes, or run the command in a terminal",
    });
  }
  const watch = flags.watch ? flags.timeout : undefined;
  return await checkCluster(world, { connection: flags, choice, scope, output, failOn, wait, fix, watch });
}

function print(world: World, text: string): number {
  world.stdout.write(text);
  return EXIT.ok;
}
