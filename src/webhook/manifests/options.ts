/** The options of `webhook manifests`, and what follows from them. */
import { UsageError } from "../../base/errors.ts";
import { normalBlock, parseCidr } from "../../golang/net/mod.ts";
import { type ClusterChoice, type ClusterNames, clusterNames, type GivenConfiguration } from "../../inject/mod.ts";

/** All options but the image have a default. */
export interface ManifestOptions {
  /** The image of this program, with `kubectl-mesh` on its PATH. */
  readonly image: string;
  /** By default `istio-system`. */
  readonly namespace?: string | undefined;
  /** By default `default`. */
  readonly revision?: string | undefined;
  /** Other names by which namespaces and pods choose the revision. */
  readonly tags?: readonly string[] | undefined;
  /** For pods during an outage of the webhook: `Fail` by default. */
  readonly failurePolicy?: string | undefined;
  /** A selector in the syntax of kubectl, which namespaces must match too. */
  readonly namespaceSelector?: string | undefined;
  /** By default 2. */
  readonly replicas?: number | undefined;
  /** The port of the Service, which the API server calls. */
  readonly servicePort?: number | undefined;
  /** An autoscaler sets the number of pods, from `replicas` up to this. */
  readonly maxReplicas?: number | undefined;
  /** Addresses and blocks of API servers: a NetworkPolicy lets reviews in from these alone. */
  readonly networkPolicy?: readonly string[] | undefined;
  /** Namespaces whose pods may read metrics through the NetworkPolicy. */
  readonly metricsNamespaces?: readonly string[] | undefined;
  /** Addresses and blocks of nodes whose kubelets may probe, where the network plugin does not let them in by itself. */
  readonly probesFrom?: readonly string[] | undefined;
  /** The injector's configuration; absent parts are built-in. */
  readonly configuration?: GivenConfiguration | undefined;
  /** Read the configuration from ConfigMaps of a control plane; the manifests have none then. */
  readonly fromCluster?: Omit<ClusterChoice, "revision"> | undefined;
  /** Where the nodes have the folders of CNI: by default as Kubernetes' own installer. */
  readonly platform?: string | undefined;
  /** What the CNI plugin's installer does with pods that started without the plugin: `fix` by default. */
  readonly cniRepair?: "delete" | "label" | "fix" | undefined;
  /** The taint that nodes have until the CNI plugin is in place; none by default. */
  readonly cniTaint?: string | undefined;
  /** The flags that produce these manifests again; objects of several kinds have them as an annotation. */
  readonly flags?: readonly string[] | undefined;
  /** Only objects of these kinds, in any case. */
  readonly only?: readonly string[] | undefined;
}

type Given = Omit<ManifestOptions, "failurePolicy" | "fromCluster" | "maxReplicas">;

/** The options with defaults, and derived names. */
export interface Plan extends Readonly<{ [Key in keyof Given]-?: NonNullable<Given[Key]> }> {
  readonly failurePolicy: "Fail" | "Ignore";
  readonly maxReplicas?: number | undefined;
  /** The ConfigMaps of the control plane, if the configuration is not in the manifests. */
  readonly cluster: ClusterNames | undefined;
  /** The name of the Service and of everything else in the namespace. */
  readonly name: string;
  /** The Secret of the certificates. */
  readonly secret: string;
  readonly ports: { readonly reviews: number; readonly plain: number };
}

export const DEFAULT_REVISION = "default";
const PROGRAM = "kubectl-mesh-webhook";

/** A DNS label that is short enough to be a part of other names. */
const NAME = /^[a-z]([a-z0-9-]{0,38}[a-z0-9])?$/;
const NAMESPACE = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** A key of a label, with its prefix. */
const TAINT = /^([a-z0-9.-]+\/)?[A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?$/;

interface Check {
  readonly flag: string;
  /** Invalid values. */
  readonly wrong: (plan: Plan) => readonly unknown[];
  readonly hint: string;
}

const NAMESPACE_HINT = "use up to 63 lower-case letters, digits and -";
const BLOCK_HINT = "use an address such as 10.0.0.1, or a block such as 10.0.0.0/28";
const NAME_HINT = "use up to 40 lower-case letters, digits and -, a letter first";

const CHECKS: readonly Check[] = [
  { flag: "--image", wrong: ({ image }) => unless(/^[^\s"']+$/.test(image), image), hint: "use the name of an image" },
  {
    flag: "--namespace",
    wrong: ({ namespace }) => unless(NAMESPACE.test(namespace), namespace),
    hint: NAMESPACE_HINT,
  },
  { flag: "--revision", wrong: ({ revision }) => unless(NAME.test(revision), revision), hint: NAME_HINT },
  { flag: "--tag", wrong: ({ tags }) => tags.filter((tag) => !NAME.test(tag)), hint: NAME_HINT },
  {
    flag: "--tag",
    wrong: ({ tags, revision }) => tags.filter((tag) => tag === revision),
    hint: "use a tag that differs from the revision",
  },
  {
    flag: "--replicas",
    wrong: ({ replicas }) => unless(Number.isInteger(replicas) && replicas > 0, replicas),
    hint: "use a number of 1 or more",
  },
  {
    flag: "--max-replicas",
    wrong: ({ replicas, maxReplicas }) => unless(maxReplicas === undefined || maxReplicas >= replicas, maxReplicas),
    hint: "use a number that is not below --replicas",
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
    wrong: ({ metricsNamespaces }) => metricsNamespaces.filter((name) => !NAMESPACE.test(name)),
    hint: NAMESPACE_HINT,
  },
];

/** Whether a text is neither an address nor a block of addresses; a zone means nothing on another machine. */
function isNoBlock(text: string): boolean {
  return text.includes("%") || typeof parseCidr(normalBlock(text)) === "string";
}

function unless<T>(isRight: boolean, value: T): T[] {
  return isRight ? [] : [value];
}

const DEFAULTS = {
  namespace: "istio-system",
  revision: DEFAULT_REVISION,
  failurePolicy: "Fail",
  namespaceSelector: "",
  replicas: 2,
  servicePort: 443,
  networkPolicy: [],
  metricsNamespaces: [],
  probesFrom: [],
  configuration: {},
  ports: { reviews: 15017, plain: 8080 },
  platform: "default",
  cniRepair: "fix" as const,
  cniTaint: "",
  flags: [],
  only: [],
};

/** The plan of these options; an empty option counts as absent. Errors: a `UsageError` that names the flag. */
export function planOf(options: ManifestOptions): Plan {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined && value !== ""));
  const all = { ...DEFAULTS, image: options.image, ...given };
  const name = all.revision === DEFAULT_REVISION ? PROGRAM : `${PROGRAM}-${all.revision}`;
  const tags = [...new Set(options.tags ?? [])].sort();
  const failurePolicy = failurePolicyOf(all.failurePolicy);
  const cluster = options.fromCluster && clusterNames({ ...options.fromCluster, revision: all.revision });
  const plan: Plan = { ...all, failurePolicy, tags, cluster, name, secret: `${name}-certificates` };
  for (const { flag, wrong, hint } of CHECKS) {
    for (const value of wrong(plan)) throw new UsageError(`Invalid value "${value}" for "${flag}"`, { hint });
  }
  return plan;
}

function failurePolicyOf(text: string): "Fail" | "Ignore" {
  if (text === "Fail" || text === "Ignore") return text;
  throw new UsageError(`Invalid value "${text}" for "--failure-policy"`, { hint: "use Fail or Ignore" });
}

/** The names of the MutatingWebhookConfigurations: one for the revision, one for each tag. */
export function configurationNames({ revision, tags }: Plan): string[] {
  const own = revision === DEFAULT_REVISION ? "istio-sidecar-injector" : `istio-sidecar-injector-${revision}`;
  return [own, ...tags.map((tag) => `istio-revision-tag-${tag}`)];
}

/** The selector of the pods, which a Deployment cannot change. */
export function selectorLabels({ name }: Plan): Record<string, string> {
  return { "app.kubernetes.io/name": name };
}

/** The labels of every object. */
export function labelsOf(plan: Plan): Record<string, string> {
  return { ...selectorLabels(plan), "app.kubernetes.io/part-of": "kubectl-mesh", "istio.io/rev": plan.revision };
}
