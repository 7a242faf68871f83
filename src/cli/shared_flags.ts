/** Flags that several commands share. */
import { flag, type FlagTable, TIMER, type Values } from "../golang/flags/mod.ts";
import type { Exits } from "./command.ts";

/** Type of a time flag as in kubectl, where a plain number means seconds. */
export const KUBECTL_TIMER = { ...TIMER, unit: 1000 } as const;

/** A flag for the name of a namespace. */
export const NAMESPACE = { type: "name", completes: "namespaces" } as const;

/** kubectl's flags that select a cluster. */
export const CLUSTER = {
  kubeconfig: flag("--kubeconfig FILE", "Kubeconfig file; in a pod without one, the pod's service account is used", {
    env: ["KUBECONFIG"],
    type: "file",
    defaultDoc: "~/.kube/config",
  }),
  context: flag("--context NAME", "Context of the kubeconfig", { completes: "contexts" }),
  cluster: flag("--cluster NAME", "Cluster of the kubeconfig", { completes: "clusters" }),
  user: flag("--user NAME", "User of the kubeconfig", { completes: "users" }),
  server: flag("-s, --server URL", "API server, instead of the kubeconfig's"),
  token: flag("--token TOKEN", "Bearer token, instead of the user's own credentials"),
  as: flag("--as USER", "Impersonate this user"),
  asGroup: flag("--as-group GROUPS", "Impersonate these groups too", { type: "list" }),
  tlsServerName: flag("--tls-server-name NAME", "Name to expect in the server's certificate"),
  certificateAuthority: flag("--certificate-authority FILE", "CA certificates that verify the server's certificate", {
    type: "file",
  }),
  insecureSkipTlsVerify: flag("--insecure-skip-tls-verify", "Do not verify the server's certificate: insecure"),
  requestTimeout: flag("--request-timeout TIME", "Timeout of each request except dry runs; 0 means no timeout", {
    ...KUBECTL_TIMER,
    default: "10s",
  }),
} as const satisfies FlagTable;

/** Flags that filter the findings of rules. */
export const RULES = {
  ignoreRules: flag("--ignore-rules IDS", "Disable these rules; docs/inject.md lists all rules", {
    type: "list",
    completes: "rules",
  }),
  baseline: flag("--baseline FILE", "Report of an earlier --report json, whose findings are not reported again", {
    type: "file",
  }),
} as const satisfies FlagTable;

/** Flags for an injector configuration in files. */
export const CONFIGURATION = {
  injectConfig: flag("--inject-config FILE", "Injector configuration, its ConfigMap, a template, or a snapshot", {
    type: "file",
    old: ["--injectConfigFile"],
  }),
  values: flag("--values FILE", "Values of the configuration, YAML or JSON", { type: "file", old: ["--valuesFile"] }),
  meshConfig: flag("--mesh-config FILE", "Mesh configuration, or its ConfigMap", {
    type: "file",
    old: ["--meshConfigFile"],
  }),
} as const satisfies FlagTable;

/** Flags that change the injector configuration without a file. */
export const IMAGES = {
  hub: flag("--hub HUB", "Registry and folder of the proxy's images"),
  cni: flag("--cni", "Capture traffic with the CNI plugin, without a privileged init container"),
} as const satisfies FlagTable;

export const TEMPLATE_ENV = {
  templateEnv: flag("--template-env NAMES", "Additional environment variables that templates can read", {
    type: "list",
  }),
} as const satisfies FlagTable;

export const ISTIO_VERSION = {
  istioVersion: flag(
    "--istio-version VERSION",
    "Istio release of the configuration, such as 1.20; a release that this program does not know yet counts as the newest known release",
    {
      defaultDoc: "detected from its structure and images",
    },
  ),
} as const satisfies FlagTable;

export const NATIVE_SIDECARS = {
  nativeSidecars: flag(
    "--native-sidecars true|false|auto|jobs",
    "Run the sidecar as a native sidecar (Kubernetes 1.29 and later): in all pods (true), in none (false), if the nodes of " +
      "the cluster support it (auto), or only in Jobs and other pods that run to completion (jobs)",
    { implied: "true" },
  ),
} as const satisfies FlagTable;

/** Flags that locate the configuration of the control plane. */
export const CONTROL_PLANE = {
  istioNamespace: flag("--istioNamespace NAMESPACE", "Namespace of the control plane", {
    ...NAMESPACE,
    defaultDoc: "istio-system",
  }),
  injectConfigMapName: flag("--injectConfigMapName NAME", "ConfigMap of the injector", {
    completes: "config-maps",
    defaultDoc: "istio-sidecar-injector, or with -REVISION",
  }),
  meshConfigMapName: flag("--meshConfigMapName NAME", "ConfigMap of the mesh", {
    completes: "config-maps",
    defaultDoc: "istio, or with -REVISION",
  }),
} as const satisfies FlagTable;

export const REVISION = {
  revision: flag("-r, --revision REVISION", "Revision of the control plane", {
    type: "name",
    completes: "revisions",
    defaultDoc: "default",
  }),
} as const satisfies FlagTable;

/** Flags that select the workloads of one namespace, or of all. */
export const WORKLOADS = {
  namespace: flag("-n, --namespace NAMESPACE", "Namespace of the workloads", {
    ...NAMESPACE,
    excludes: ["all-namespaces"],
    defaultDoc: "all namespaces",
  }),
  allNamespaces: flag("-A, --all-namespaces", "Workloads of all namespaces"),
} as const satisfies FlagTable;

/** Flags that select manifests, as in kubectl. */
export const FILENAMES = {
  filename: flag("-f, --filename FILE", "File, directory, https URL, or - for standard input", {
    type: "files",
    completes: "manifests",
  }),
  recursive: flag("-R, --recursive", "Also read the subdirectories of a directory"),
} as const satisfies FlagTable;

export const MANIFESTS = {
  ...FILENAMES,
  kustomize: flag(
    "-k, --kustomize FOLDER",
    "Build a kustomization with kubectl, otherwise with kustomize, and read the output",
    { completes: "folders", excludes: ["filename"] },
  ),
  namespace: flag(
    "-n, --namespace NAMESPACE",
    "Namespace for resources without a namespace, not written to the output; a resource with another namespace is an error",
    NAMESPACE,
  ),
  templatePath: flag("--template-path KIND=PATH", "Path of the pod template in an unknown kind", {
    type: "list",
  }),
  output: flag(
    "-o, --output yaml|json|FILE|FOLDER/",
    "Output format, file, or folder for one file per input; if a resource fails, nothing is written",
    { default: "yaml" },
  ),
  inPlace: flag("-i, --in-place", "Rewrite each file in place, atomically, if it changes", {
    excludes: ["output", "kustomize"],
  }),
  diff: flag(
    "--diff unified|external",
    "Print the changes instead of writing them: as a unified diff, or with KUBECTL_EXTERNAL_DIFF",
    { implied: "unified", excludes: ["output", "in-place", "keep-going"] },
  ),
  patch: flag(
    "--patch",
    "Write a strategic merge patch for kustomize instead of each changed manifest",
    {
      excludes: ["in-place", "diff"],
    },
  ),
  keepGoing: flag(
    "--keep-going",
    "Write each resource immediately and skip failed resources; the exit code is still 1",
  ),
  report: flag(
    "--report text|changed|json|sarif|none",
    "Report on standard error for each resource; changed omits skipped resources, sarif is one document at the end",
    { default: "text" },
  ),
} as const satisfies FlagTable;

export type ManifestFlags = Values<{ readonly "": typeof MANIFESTS }>;

/** What to do with a file name outside of -f. A shell turns an unquoted pattern into such names. */
export function fileHint(given: ReadonlySet<string>): string {
  return given.has("filename") ? "give each file its own -f, or quote the pattern" : "name files with -f";
}

/** Exit codes of the commands that change manifests. */
export const MANIFEST_EXITS: Exits = {
  ok: "done; with --diff, no changes",
  failed: "a resource failed, or no input could be read; with --diff, changes",
  usage: "the command line is wrong; with --diff, a failure",
};

/** Exit codes of the commands that run until a signal arrives. */
export const SERVER_EXITS: Exits = {
  ok: "stopped by a signal",
  failed: "the start failed",
  usage: true,
  interrupted: "stopped immediately by a second SIGINT or SIGTERM",
  terminated: "stopped immediately by a second SIGINT or SIGTERM",
};
