import type { Flag } from "../flags.ts";
import { helpText } from "../help.ts";

export const CHECK = "kubectl mesh check";

const WHAT_FLAGS: readonly Flag[] = [
  { name: "only", value: "ids", help: "ids of checks, or categories; repeatable, comma lists" },
  { name: "skip", value: "ids", help: "what is left out, likewise" },
  { name: "pre", help: "check a cluster before the mesh is in it" },
  { name: "namespace", short: "n", value: "namespace", help: "namespace of the workloads (all unless told)" },
  { name: "all-namespaces", short: "A", help: "workloads of all namespaces" },
  {
    name: "istioNamespace",
    short: "i",
    value: "namespace",
    help: 'that of the control plane (default "istio-system")',
  },
  {
    name: "revision",
    short: "r",
    value: "revision",
    help: "only this revision of the control plane (all unless told)",
  },
];

const HOW_FLAGS: readonly Flag[] = [
  { name: "output", short: "o", value: "table|short|json", help: "short leaves out what is well (default table)" },
  { name: "fail-on", value: "warning|error", help: "from what on the exit code is 1 (default error)" },
  { name: "wait", value: "duration", help: "try again for so long what failed (default 0)" },
  { name: "rbac", help: "print the roles that the checks need, and ask no cluster" },
];

/** What kubectl reads too. */
export const CONNECTION_FLAGS: readonly Flag[] = [
  { name: "kubeconfig", value: "file", help: "kubeconfig file (KUBECONFIG, ~/.kube/config)" },
  { name: "context", value: "name", help: "context of the kubeconfig" },
  { name: "cluster", value: "name", help: "cluster of the kubeconfig" },
  { name: "user", value: "name", help: "user of the kubeconfig" },
];

const GROUPS: Readonly<Record<string, readonly Flag[]>> = {
  "What is checked:": WHAT_FLAGS,
  "How it is told:": HOW_FLAGS,
  "Which cluster:": CONNECTION_FLAGS,
};

/** All flags of `check`. */
export const CHECK_FLAGS: readonly Flag[] = Object.values(GROUPS).flat();

/** The text of `check --help`. */
export function checkHelp(): string {
  return helpText({
    usage: `${CHECK} [CATEGORY...] [flags]`,
    description:
      "Check whether a cluster is ready for the mesh, and whether its workloads are in it. Nothing is changed: one pod " +
      "is sent to the API server as a dry run, to see whether it reaches the webhook.\n" +
      "Categories are kubernetes-api, injector-configuration, webhook, namespaces, workloads, security and data-plane.",
    flags: GROUPS,
    after: AFTER,
  });
}

const AFTER = `
Exit codes:
  0 nothing failed, 1 a check failed or no cluster is configured, 2 the command line is wrong

Examples:
  kubectl mesh check
  kubectl mesh check webhook --wait 2m
  kubectl mesh check workloads -n shop -o short --fail-on warning
  kubectl mesh check -o json --skip data-plane
`;
