/** Flags that several commands have, declared once. */
import { type FlagTable, TIMER } from "../core/command/mod.ts";

/** kubectl's flags that say which cluster is meant. */
export const CLUSTER = {
  kubeconfig: {
    name: "kubeconfig",
    env: ["KUBECONFIG"],
    type: "file",
    value: "FILE",
    defaultDoc: "~/.kube/config",
    doc: "Kubeconfig file; in a pod without one its service account counts",
  },
  context: { name: "context", type: "text", value: "NAME", doc: "Context of the kubeconfig" },
  cluster: { name: "cluster", type: "text", value: "NAME", doc: "Cluster of the kubeconfig" },
  user: { name: "user", type: "text", value: "NAME", doc: "User of the kubeconfig" },
} as const satisfies FlagTable;

/** The injector configuration in files. */
export const CONFIGURATION = {
  injectConfig: {
    name: "inject-config",
    type: "file",
    value: "FILE",
    doc: "Injector configuration, its ConfigMap, or a template",
    old: ["--injectConfigFile"],
  },
  values: {
    name: "values",
    type: "file",
    value: "FILE",
    doc: "Values of the configuration, YAML or JSON",
    old: ["--valuesFile"],
  },
  meshConfig: {
    name: "mesh-config",
    type: "file",
    value: "FILE",
    doc: "Mesh configuration, or its ConfigMap",
    old: ["--meshConfigFile"],
  },
} as const satisfies FlagTable;

/** What changes the injector configuration without a file. */
export const IMAGES = {
  hub: { name: "hub", type: "text", value: "HUB", doc: "Registry and folder of the proxy's images" },
  cni: { name: "cni", type: "boolean", doc: "The CNI plugin captures traffic: no init container with privileges" },
} as const satisfies FlagTable;

/** `--native-sidecars`. */
export const NATIVE_SIDECARS = {
  nativeSidecars: {
    name: "native-sidecars",
    type: "boolean",
    doc: "The sidecar is an init container that keeps running (Kubernetes 1.29 and later)",
  },
} as const satisfies FlagTable;

/** Where the control plane keeps its configuration. */
export const CONTROL_PLANE = {
  istioNamespace: {
    name: "istioNamespace",
    short: "i",
    type: "text",
    value: "NAMESPACE",
    defaultDoc: "istio-system",
    doc: "Namespace of the control plane",
  },
  injectConfigMapName: {
    name: "injectConfigMapName",
    type: "text",
    value: "NAME",
    defaultDoc: "istio-sidecar-injector, or with -REVISION",
    doc: "ConfigMap of the injector",
  },
  meshConfigMapName: {
    name: "meshConfigMapName",
    type: "text",
    value: "NAME",
    defaultDoc: "istio, or with -REVISION",
    doc: "ConfigMap of the mesh",
  },
} as const satisfies FlagTable;

/** `-r/--revision`. */
export const REVISION = {
  revision: {
    name: "revision",
    short: "r",
    type: "text",
    value: "REVISION",
    defaultDoc: "default",
    doc: "Revision of the control plane",
  },
} as const satisfies FlagTable;

/** Which manifests are read, as kubectl reads them. */
export const FILENAMES = {
  filename: {
    name: "filename",
    short: "f",
    type: "files",
    value: "FILE",
    doc: "File, directory, https URL, or - for standard input",
  },
  recursive: { name: "recursive", short: "R", type: "boolean", doc: "Read the directories below a directory too" },
} as const satisfies FlagTable;

/** The log of a command that runs for long. */
export const LOG = {
  logFormat: {
    name: "log-format",
    env: ["MESH_LOG_FORMAT"],
    type: "text",
    allowed: ["text", "json"],
    defaultDoc: "text",
    doc: "Form of the log on standard error",
  },
  logLevel: {
    name: "log-level",
    env: ["MESH_LOG_LEVEL"],
    type: "text",
    value: "LEVEL",
    allowed: ["debug", "info", "warning", "error"],
    defaultDoc: "info",
    doc: "Least level of the log: debug, info, warning or error",
  },
} as const satisfies FlagTable;

/** A time that a timer runs for. */
export const TIME = { ...TIMER, value: "TIME" } as const;
