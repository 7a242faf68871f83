/** The options of `webhook manifests`, and the plan that is derived from the options. */
import { UsageError } from "../../base/errors.ts";
import type { ValueMap } from "../../base/value.ts";
import { isLowerDnsLabel, normalBlock, parseCidr } from "../../golang/net/mod.ts";
import { type ClusterChoice, type ClusterNames, clusterNames, type GivenConfiguration } from "../../inject/mod.ts";

/** Options of `webhook manifests`. Only `image` is required. */
export interface ManifestOptions {
  /** Image of this program. Its PATH contains `kubectl-mesh`. */
  readonly image: string;
  /** Namespace of the webhook. Default: `istio-system`. */
  readonly namespace?: string | undefined;
  /** Istio revision that the webhook serves. Default: `default`. */
  readonly revision?: string | undefined;
  /** Tags: other names by which namespaces and pods select the revision. */
  readonly tags?: readonly string[] | undefined;
  /** Whether pods are rejected (`Fail`, the default) or admitted (`Ignore`) while the webhook is down. */
  readonly failurePolicy?: "Fail" | "Ignore" | undefined;
  /** An additional selector for namespaces, in kubectl's syntax. */
  readonly namespaceSelector?: string | undefined;
  /** Number of pods, or the minimum number with `maxReplicas`. Default: 2. */
  readonly replicas?: number | undefined;
  /** Port of the Service. The API server calls this port. */
  readonly servicePort?: number | undefined;
  /** Maximum number of pods. If set, an autoscaler sets the number of pods, starting from `replicas`. */
  readonly maxReplicas?: number | undefined;
  /** Addresses and CIDR blocks of API servers. If set, a NetworkPolicy allows reviews only from these. */
  readonly networkPolicy?: readonly string[] | undefined;
  /** Namespaces whose pods may read metrics through the NetworkPolicy. */
  readonly metricsNamespaces?: readonly string[] | undefined;
  /** Addresses and CIDR blocks of nodes whose kubelets may probe, if the network plugin does not allow them by itself. */
  readonly probesFrom?: readonly string[] | undefined;
  /** The injector's configuration. Default for each part: the built-in one. */
  readonly configuration?: GivenConfiguration | undefined;
  /** Read the configuration from a control plane's ConfigMaps. The manifests then do not contain a ConfigMap. */
  readonly fromCluster?: Omit<ClusterChoice, "revision"> | undefined;
  /** Platform, which determines the CNI folders of the nodes. Default: the standard folders of Kubernetes. */
  readonly platform?: "default" | "gke" | "k3d" | "k3s" | "microk8s" | "openshift" | undefined;
  /** How to repair pods that started without the CNI plugin. Default: `fix`. */
  readonly cniRepair?: "delete" | "label" | "fix" | undefined;
  /** Key of the taint to remove from a node once the CNI plugin is installed there. Default: no taint. */
  readonly cniTaint?: string | undefined;
  /** The flags that reproduce these manifests. An annotation on several objects records the flags. */
  readonly flags?: readonly string[] | undefined;
  /** Output only objects of these kinds (case-insensitive). */
  readonly only?: readonly string[] | undefined;
}

type Given = Omit<ManifestOptions, "fromCluster" | "maxReplicas">;

/** The options with defaults filled in, and derived names. */
export interface Plan extends Readonly<{ [Key in keyof Given]-?: NonNullable<Given[Key]> }> {
  readonly maxReplicas?: number | undefined;
  /** Names of the control plane's ConfigMaps, if the webhook reads the configuration from these. */
  readonly cluster: ClusterNames | undefined;
  /** Name of the Service, the Deployment and the other namespaced objects. */
  readonly name: string;
  readonly secret: string;
  readonly ports: { readonly reviews: number; readonly plain: number };
}

export const DEFAULT_REVISION = "default";
const PROGRAM = "kubectl-mesh-webhook";

/** Matches a DNS label that is short enough to be part of other names. */
const NAME = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;

/** Matches a taint key with an optional prefix. */
const TAINT = /^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;

interface Check {
  readonly flag: string;
  /** Returns the invalid values of the flag. */
  readonly wrong: (plan: Plan) => readonly unknown[];
  readonly hint: string;
}

const BLOCK_HINT = "use an address such as 10.0.0.1, or a block such as 10.0.0.0/28";
const NAMESPACE_NAME_HINT = "use up to 63 lower-case letters, digits and -";
const NAME_HINT = "use up to 40 lower-case letters, digits and -, starting with a letter";

/**
 * Matches an image. Its last name has no upper case (the grammar of distribution/reference), so IMAGE, the placeholder of
 * an example, is an error.
 */
const IMAGE = /^(?:[^\s"'/]+\/)*[^\s"'/:@A-Z]+(?:[:@][^\s"'/]+)?$/;

const CHECKS: readonly Check[] = [
  {
    flag: "--image",
    wrong: ({ image }) => unless(IMAGE.test(image), image),
    hint: "use an image such as registry.example.com/kubectl-mesh:1",
  },
  {
    flag: "--namespace",
    wrong: ({ namespace }) => unless(isLowerDnsLabel(namespace), namespace),
    hint: NAMESPACE_NAME_HINT,
  },
  { flag: "--revision", wrong: ({ revision }) => unless(NAME.test(revision), revision), hint: NAME_HINT },
  { flag: "--tag", wrong: ({ tags }) => tags.filter((tag) => !NAME.test(tag)), hint: NAME_HINT },
  {
    flag: "--tag",
    wrong: ({ tags, revision }) => tags.filter((tag) => tag === revision),
    hint: "use a tag that differs from the revision",
  },
  {
    flag: "--max-replicas",
    wrong: ({ replicas, maxReplicas }) => unless(maxReplicas === undefined || maxReplicas >= replicas, maxReplicas),
    hint: "use a number that is at least --replicas",
  },
  {
    flag: "--cni-taint",
    wrong: ({ cniTaint }) => unless(cniTaint === "" || TAINT.test(cniTaint), cniTaint),
    hint: "use a key such as cni.istio.io/not-ready",
  },
  { flag: "--network-policy", wrong: ({ networkPolicy }) => networkPolicy.filter(isNoBlock), hint: BLOCK_HINT },
  { flag: "--probes-from", wrong: ({ probesFrom }) => probesFrom.filter(isNoBlock), hint: BLOCK_HINT },
  {
    flag: "--metrics-namespace",
    wrong: ({ metricsNamespaces }) => metricsNamespaces.filter((name) => !isLowerDnsLabel(name)),
    hint: NAMESPACE_NAME_HINT,
  },
];

/** Whether a text is neither an IP address nor a CIDR block. Rejects IPv6 zones, which are valid only on one machine. */
function isNoBlock(text: string): boolean {
  return text.includes("%") || typeof parseCidr(normalBlock(text)) === "string";
}

function unless<T>(isRight: boolean, value: T): T[] {
  return isRight ? [] : [value];
}

const DEFAULTS = {
  namespace: "istio-system",
  revision: DEFAULT_REVISION,
  failurePolicy: "Fail" as const,
  namespaceSelector: "",
  replicas: 2,
  servicePort: 443,
  networkPolicy: [],
  metricsNamespaces: [],
  probesFrom: [],
  configuration: {},
  ports: { reviews: 15017, plain: 8080 },
  platform: "default" as const,
  cniRepair: "fix" as const,
  cniTaint: "",
  flags: [],
  only: [],
};

/** Derives the plan from the options. Treats an empty option as absent. Throws a `UsageError` that names the flag. */
export function planOf(options: ManifestOptions): Plan {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== ""));
  const all = { ...DEFAULTS, image: options.image, ...given };
  const name = all.revision === DEFAULT_REVISION ? PROGRAM : `${PROGRAM}-${all.revision}`;
  const tags = [...new Set(options.tags ?? [])].sort();
  const cluster = options.fromCluster && clusterNames({ ...options.fromCluster, revision: all.revision });
  const plan: Plan = { ...all, tags, cluster, name, secret: `${name}-certificates` };
  for (const { flag, wrong, hint } of CHECKS) {
    for (const value of wrong(plan)) throw new UsageError(`Invalid value "${value}" for "${flag}"`, { hint });
  }
  return plan;
}

/** Returns the names of the MutatingWebhookConfigurations: first the one for the revision, then one for each tag. */
export function configurationNames({ revision, tags }: Plan): string[] {
  const own = revision === DEFAULT_REVISION ? "istio-sidecar-injector" : `istio-sidecar-injector-${revision}`;
  return [own, ...tags.map((tag) => `istio-revision-tag-${tag}`)];
}

/** Labels that select the pods. A Deployment's selector is immutable, so do not change these. */
export function selectorLabels({ name }: Plan): Record<string, string> {
  return { "app.kubernetes.io/name": name };
}

export function labelsOf(plan: Plan): Record<string, string> {
  return { ...selectorLabels(plan), "app.kubernetes.io/part-of": "kubectl-mesh", "istio.io/rev": plan.revision };
}

export function objectOf(plan: Plan, apiVersion: string, kind: string, fields: ValueMap): ValueMap {
  const { name, namespace } = plan;
  return { apiVersion, kind, metadata: { name, namespace, labels: labelsOf(plan) }, ...fields };
}
