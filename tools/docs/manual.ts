/**
 * The parts of `man kubectl-mesh` about the whole program: exit codes, variables, files. Variables of single flags are
 * documented with the flags.
 */
import type { Exits } from "../../src/cli/command.ts";

/** The exit codes that all commands share. */
export const EXITS: Exits = {
  ok: true,
  failed: "it failed; for checks and verdicts: the answer is bad or unknown",
  usage: true,
  notCaptured: true,
  closedPipe: true,
  interrupted: "SIGINT, SIGTERM",
  terminated: "SIGINT, SIGTERM",
  other:
    "of the program that the command became or waited for: COMMAND of wait, Envoy under agent (128 and the signal)",
};

/** Environment variables, with their effect. */
export const VARIABLES: Readonly<Record<string, string>> = {
  KUBECONFIG: "Kubeconfig files, as for kubectl; ~/.kube/config by default",
  KUBECACHEDIR: "Folder of the names that completion remembers; ~/.kube/cache by default",
  HOME: "The user's folder",
  TMPDIR: "Folder for temporary files, which only this user can read; /tmp by default",
  NO_COLOR: "No colour and no progress, if it is not empty",
  TERM: "dumb: no colour, no progress, ASCII only",
  COLUMNS: "Width of pictures and help, in the place of the terminal's",
  "LC_ALL, LC_CTYPE, LANG": "Without UTF-8, pictures are ASCII",
  MESH_LOG_FORMAT: "text or json: lines on standard error",
  MESH_LOG_LEVEL: "debug, info, warning or error",
  MESH_COMPLETION_TIMEOUT: "How long completion waits for the cluster; 150ms by default",
  KUBECTL_EXTERNAL_DIFF: "The program of --diff=external, as for kubectl",
  "HTTPS_PROXY, HTTP_PROXY, NO_PROXY": "Proxies for connections to the cluster and for URLs",
  SSL_CERT_FILE: "PEM file of certificate authorities, in the place of the system's",
};

/** Files of the user, with what they are for. */
export const FILES: Readonly<Record<string, string>> = {
  "~/.kube/config": "Clusters and users; read only",
  "~/.kube/cache/kubectl-mesh-names.json":
    "Names of the cluster for completion, mode 0600; it may be removed at any time",
  "/var/run/secrets/kubernetes.io/serviceaccount/": "Token and certificate authority in a pod without a kubeconfig",
  "kubectl_complete-mesh":
    "Beside the program: kubectl runs it to complete; see kubectl-mesh-completion-install-kubectl(1)",
};
