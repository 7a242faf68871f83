/** Flags that several commands share. */
import { flag, type FlagTable, TIMER, type Values } from "../golang/flags/mod.ts";
import type { Exits } from "./command.ts";

/** Type of a time flag like in kubectl, where a plain number means seconds. */
export const KUBECTL_TIMER = { ...TIMER, unit: 1000 } as const;

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
  tlsServerName: flag("--tls-server-name NAME", "Name in the server's certificate"),
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
  ignoreRules: flag("--ignore-rules IDS", "Switch these rules off; docs/inject.md has all", {
    type: "list",
    completes: "rules",
  }),
  baseline: flag("--baseline FILE", "Report of an earlier --report json; its findings are not reported again", {
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
  cni: flag("--cni", "The CNI plugin captures traffic: no init container with privileges"),
} as const satisfies FlagTable;

export const TEMPLATE_ENV = {
  templateEnv: flag("--template-env NAMES", "Environment variables that templates see besides Istio's own", {
    type: "list",
  }),
} as const satisfies FlagTable;

export const ISTIO_VERSION = {
  istioVersion: flag("--istio-version VERSION", "Release of Istio that the configuration is from, such as 1.20", {
    defaultDoc: "recognized by its form and its images",
  }),
} as const satisfies FlagTable;

export const NATIVE_SIDECARS = {
  nativeSidecars: flag(
    "--native-sidecars true|false|auto|jobs",
    "The sidecar is an init container that keeps running (Kubernetes 1.29 and later): in all pods, only in Jobs and other " +
      "pods that end by themselves, or if the nodes of the cluster support it",
    { implied: "true" },
  ),
} as const satisfies FlagTable;

/** Flags that locate the configuration of the control plane. */
export const CONTROL_PLANE = {
  istioNamespace: flag("--istioNamespace NAMESPACE", "Namespace of the control plane", {
    completes: "namespaces",
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
    completes: "revisions",
    defaultDoc: "default",
  }),
} as const satisfies FlagTable;

/** Flags that select manifests, like in kubectl. */
export const FILENAMES = {
  filename: flag("-f, --filename FILE", "File, directory, https URL, or - for standard input", {
    type: "files",
    completes: "manifests",
  }),
  recursive: flag("-R, --recursive", "Read the directories below a directory too"),
} as const satisfies FlagTable;

export const MANIFESTS = {
  ...FILENAMES,
  kustomize: flag(
    "-k, --kustomize FOLDER",
    "Build a kustomization with kubectl, else with kustomize, and read its output",
    { completes: "folders", excludes: ["filename"] },
  ),
  namespace: flag(
    "-n, --namespace NAMESPACE",
    "Namespace of resources without one; a resource with another namespace is an error",
    { completes: "namespaces" },
  ),
  templatePath: flag("--template-path KIND=PATH", "Path of the pod template in an unknown kind", {
    type: "list",
  }),
  output: flag(
    "-o, --output yaml|json|FILE|FOLDER/",
    "Format, or the file to write, or the folder for a file of each input; nothing is written if a resource fails",
    { default: "yaml" },
  ),
  inPlace: flag("-i, --in-place", "Rewrite each file in place, atomically, if it changes", {
    excludes: ["output", "kustomize"],
  }),
  diff: flag(
    "--diff unified|external",
    "Print what would change, and write nothing: as a unified diff, or with KUBECTL_EXTERNAL_DIFF",
    { implied: "unified", excludes: ["output", "in-place", "keep-going"] },
  ),
  patch: flag(
    "--patch",
    "Instead of manifests, write a strategic merge patch for kustomize for each one that changes",
    {
      excludes: ["in-place", "diff"],
    },
  ),
  keepGoing: flag(
    "--keep-going",
    "Write each resource at once, and leave out those that fail; the exit code is still 1",
  ),
  report: flag(
    "--report text|changed|json|sarif|none",
    "What is printed on standard error for each resource; changed leaves out what is skipped, sarif is one document at the end",
    { default: "text" },
  ),
} as const satisfies FlagTable;

export type ManifestFlags = Values<{ readonly "": typeof MANIFESTS }>;

/** Exit codes of the commands that change manifests. */
export const MANIFEST_EXITS: Exits = {
  ok: "done; with --diff nothing would change",
  failed: "a resource failed, or no input could be read; with --diff something would change",
  usage: "the command line is wrong; with --diff something failed",
};
