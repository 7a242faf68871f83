/** Reads the cluster data on which injection in a namespace depends. Forbidden data is unknown, not an error. */
import { apiPath } from "../../kube/api_path.ts";
import {
  isMutatingWebhookConfiguration,
  isPod,
  type KubeApi,
  type KubeObject,
  type Pod,
} from "../../kube/client/mod.ts";
import { loadLibraries } from "../../golang/gotemplate/sprig/mod.ts";
import {
  type ClusterChoice,
  type InjectionSnapshot,
  type Injector,
  type NativeChoice,
  type NativeNodes,
  nativeNodes,
} from "../../inject/mod.ts";
import { nodeKeeper, podKeeper } from "../inventory/kept_fields.ts";
import { PAGE_OF_PODS } from "../inventory/resources.ts";
import { listOf, type Source } from "../inventory/source.ts";
import { isKnown, mapKnown, observe, type Observed, once, reason } from "../inventory/observed.ts";
import { accessInventory } from "../inventory/access.ts";
import type { Deciding } from "../advice/decide.ts";
import { type InjectorWebhook, injectorWebhooks, namespaceLabels } from "../inventory/injector_webhooks.ts";
import { controlPlaneOf, injectorInventory, planeKey } from "../inventory/control_planes.ts";
import type { Knowledge } from "./explanation.ts";
import { loadConditions } from "./match_conditions.ts";
import { ASSUMED } from "./verdict.ts";

/** Options for reading a cluster. */
export interface Asking {
  readonly api: KubeApi;
  readonly clock: Source["clock"];
  readonly choice: ClusterChoice;
  /** Injector that replaces the control planes' configuration; `undefined` to use the cluster's. */
  readonly given: Injector | undefined;
  /** Replaces the setting for native sidecars in the control planes' environment, which no API shows. */
  readonly native: NativeChoice | undefined;
  /** Whether the workloads are of the cluster: lists live pods too. For manifests, lists nodes instead. */
  readonly wantsPods: boolean;
  /** The snapshot that the API serves, which cannot make dry runs; `undefined` for a cluster. */
  readonly snapshot?: InjectionSnapshot | undefined;
}

/** Returns what is known without a cluster: only the given configuration, if any. */
export function offlineKnowledge(given: Injector | undefined): Knowledge {
  return {
    webhooks: ASSUMED,
    namespaceLabels: {},
    isNamespaceKnown: true,
    injectorFor: () => givenInjector(given),
    nodes: undefined,
    pods: undefined,
    gaps: [],
    webhookGap: undefined,
    admitting: undefined,
    deciding: {
      istioNamespace: DEFAULT_NAMESPACE,
      injectors: () => Promise.resolve({ value: [] }),
      may: () => Promise.resolve({ failed: "no cluster is read" }),
    },
  };
}

const DEFAULT_NAMESPACE = "istio-system";

function givenInjector(given: Injector | undefined): Observed<Injector> {
  return given === undefined ? { failed: "no configuration is given" } : { value: given };
}

/** Reads webhooks and control planes at most once. Unknown labels of a namespace make the called webhooks unknown. */
export function clusterKnowledge(asking: Asking): (namespace: string) => Promise<Knowledge> {
  const injectors = once(async () =>
    mapKnown(
      await listOf(asking, "apis/admissionregistration.k8s.io/v1", "mutatingwebhookconfigurations", {
        isKind: isMutatingWebhookConfiguration,
      }),
      injectorWebhooks,
    )
  );
  const injectorFor = once(async () => await injectorFinder(asking, await injectors()));
  const nodes = once(() => observe("list on nodes", () => nodesOf(asking.api)));
  const shared = { ...accessInventory(asking), injectors, injectorFor, nodes };
  return (namespace) => knowledgeOf(namespace, asking, shared);
}

interface Shared extends Pick<Deciding, "injectors" | "may"> {
  readonly injectorFor: () => Promise<Knowledge["injectorFor"]>;
  readonly nodes: () => Promise<Observed<NativeNodes>>;
}

async function nodesOf(api: KubeApi): Promise<NativeNodes> {
  const { items } = await api.list("/api/v1/nodes", { limit: "50" }, nodeKeeper());
  return nativeNodes(items.map((node) => ({ ...node })));
}

async function knowledgeOf(name: string, asking: Asking, shared: Shared): Promise<Knowledge> {
  const { wantsPods } = asking;
  const [namespace, injectors, live, nodes] = await Promise.all([
    namespaceOf(name, asking),
    shared.injectors(),
    wantsPods
      ? listOf(asking, "api/v1", "pods", { isKind: isPod, namespace: name, query: PAGE_OF_PODS, keep: podKeeper() })
      : NOTHING,
    wantsPods ? undefined : shared.nodes(),
  ]);
  const labels = isKnown(namespace) ? namespace.value.metadata["labels"] : undefined;
  await loadConditions();
  return {
    webhooks: calledWebhooks(injectors, namespace),
    namespaceLabels: namespaceLabels(name, labels),
    isNamespaceKnown: isKnown(namespace),
    injectorFor: await shared.injectorFor(),
    nodes,
    pods: wantsPods && isKnown(live) ? live.value : undefined,
    deciding: { ...shared, istioNamespace: asking.choice.istioNamespace ?? DEFAULT_NAMESPACE },
    admitting: canAdmit(asking, namespace) ? asking : undefined,
    webhookGap: gap("which webhooks exist", injectors)[0],
    gaps: [
      ..."broken" in namespace ? [] : gap("the labels of the namespace", namespace),
      ...gap("the state of live pods", live),
    ],
  };
}

/** Returns a namespace. One that does not exist yet is unknown: its labels decide once it exists. */
async function namespaceOf(name: string, asking: Asking): Promise<Observed<KubeObject>> {
  const { api } = asking;
  if (name === "") return { broken: "the manifest does not name a namespace; name it with --namespace", object: "" };
  const found = await observe("get on namespaces", () => api.get(apiPath("api/v1", "namespaces", undefined, name)));
  if (!isKnown(found)) return found;
  if (found.value !== undefined) return { value: found.value };
  return {
    broken: `${absence(name, asking)}; a Namespace among the manifests does not count`,
    object: `namespace/${name}`,
  };
}

function absence(name: string, { api, snapshot }: Asking): string {
  if (snapshot === undefined) return `there is no namespace "${name}"; create it first, because its labels decide`;
  const { namespaces } = snapshot;
  const missing = `the snapshot ${api.server} has no namespace "${name}"`;
  if (namespaces.length > 0) return `${missing}; take it again with "-n ${[...namespaces, name]}"`;
  return `${missing}; create the namespace and take the snapshot again, or add the Namespace to its "objects"`;
}

/**
 * Whether to use dry runs. They are not used if the user gives a configuration, because the cluster does not use that
 * configuration; for a snapshot, which cannot run any; and if the namespace does not exist, because they would fail.
 */
function canAdmit({ given, snapshot }: Asking, namespace: Observed<unknown>): boolean {
  return given === undefined && snapshot === undefined && !("broken" in namespace);
}

/** Returns the webhooks. If webhooks exist and the namespace's labels are unknown, the called webhooks are unknown. */
function calledWebhooks(injectors: Knowledge["webhooks"], namespace: Observed<unknown>): Knowledge["webhooks"] {
  const isAny = injectors !== ASSUMED && isKnown(injectors) && injectors.value.length > 0;
  return isAny && !isKnown(namespace) ? namespace : injectors;
}

const NOTHING: Observed<readonly Pod[]> = { value: [] };

function gap(what: string, fact: Observed<unknown>): readonly string[] {
  return isKnown(fact) ? [] : [`cannot tell ${what}: ${reason(fact)}`];
}

/** Returns a function that finds the injector of a webhook or, without a webhook, of the chosen control plane. */
async function injectorFinder(
  { api, clock, choice, given, native }: Asking,
  injectors: Observed<readonly InjectorWebhook[]>,
): Promise<Knowledge["injectorFor"]> {
  if (given !== undefined) return () => givenInjector(given);
  const hasWebhook = isKnown(injectors) && injectors.value.length > 0;
  // The API server calls webhooks of every revision, regardless of the chosen revision.
  const scope = hasWebhook ? { ...choice, revision: undefined } : choice;
  const { planes } = injectorInventory({ api, clock, scope }, () => Promise.resolve(injectors));
  const { value: known } = await planes();
  for (const { texts } of known.values()) {
    if (isKnown(texts)) await loadLibraries(texts.value.config.text, texts.value.values?.text ?? "");
  }
  return (webhook) => {
    const plane = webhook === undefined ? [...known.values()][0] : known.get(planeKey(controlPlaneOf(webhook, choice)));
    const injector = plane?.injector ?? { failed: "its control plane is unknown" };
    return native === undefined ? injector : mapKnown(injector, (each) => ({
      ...each,
      nativeSidecars: native.native,
      nativeJobs: native.jobs,
      nodesAsked: native.nodes,
    }));
  };
}
