/** Judges manifests as the webhooks of a cluster judge their pods. */
import type { KubeApi } from "../kube/client/mod.ts";
import { isList, isMap, textAt, type Value, type ValueMap } from "../base/value.ts";
import {
  type ClusterChoice,
  decide,
  InjectionError,
  type Injector,
  type Judgment,
  metadataOf,
  nativeByNodes,
  nativeForPod,
  type NativeNodes,
  nativeNodes,
  type NativeSetting,
  ownerOf,
  type Pod,
  specOf,
  urlSettings,
  type WorkloadKind,
} from "../inject/mod.ts";
import type { InjectorWebhook } from "./inventory/injector_webhooks.ts";
import { nodeKeeper } from "./inventory/kept_fields.ts";
import { isKnown, observe, type Observed, once, reason } from "./inventory/observed.ts";
import type { Source } from "./inventory/source.ts";
import type { Knowledge } from "./injection/explanation.ts";
import { clusterKnowledge } from "./injection/knowledge.ts";
import { whyNotCalled } from "./injection/not_called.ts";
import { podOf, type Target, targetOfKind } from "./injection/target.ts";
import { ASSUMED, type Injection, type Verdict, verdictOf, webhookName } from "./injection/verdict.ts";
import { MeshError } from "../base/errors.ts";

export interface WebhookAsking {
  /** A cluster, or a snapshot of one. */
  readonly api: KubeApi;
  readonly clock: Source["clock"];
  /** The ConfigMaps of the control planes, if they do not have Istio's names. */
  readonly choice: ClusterChoice;
  /** The namespace of manifests that name none; without it, their pods cannot be judged. */
  readonly namespace: string | undefined;
  /** Replaces the environment of the control planes, which no API shows. */
  readonly native: NativeSetting | undefined;
}

/** A judge, for `injectionBy`. */
export interface WebhookJudge {
  /** Asks about the namespaces of a document. Errors: a MeshError if the cluster does not answer. */
  prepare(value: Value): Promise<void>;
  /** Errors: an InjectionError for a pod that is refused, or whose injection is unknown. */
  judge(manifest: ValueMap, row: WorkloadKind): Judgment;
}

/** Asks the cluster for webhooks, control planes and nodes at most once, for a namespace when a document names it. */
export function webhookJudge(asking: WebhookAsking): WebhookJudge {
  const ofNamespace = clusterKnowledge({ ...asking, given: undefined, wantsPods: false });
  const nodes = once(() => observe("list on nodes", () => nodesOf(asking.api)));
  const known = new Map<string, Known>();
  return {
    async prepare(value) {
      for (const namespace of namespacesIn(value, asking.namespace)) {
        if (known.has(namespace)) continue;
        const [knowledge, observed] = await Promise.all([ofNamespace(namespace), nodes()]);
        refuseFailure(knowledge.webhooks);
        known.set(namespace, { ...knowledge, nodes: observed });
      }
    },
    judge(manifest, row) {
      const namespace = textAt(metadataOf(manifest), "namespace") || asking.namespace;
      const found = namespace === undefined ? undefined : known.get(namespace);
      return judgmentOf(targetOfKind(manifest, row, { namespace: namespace ?? "", file: "" }), found, asking.native);
    },
  };
}

interface Known extends Knowledge {
  readonly nodes: Observed<NativeNodes>;
}

async function nodesOf(api: KubeApi): Promise<NativeNodes> {
  const { items } = await api.list("/api/v1/nodes", { limit: "50" }, nodeKeeper());
  return nativeNodes(items.map((node) => ({ ...node })));
}

/** Throws at once: otherwise every document would fail with the same error. */
function refuseFailure(webhooks: Knowledge["webhooks"]): void {
  if (webhooks !== ASSUMED && "failed" in webhooks) throw new MeshError(webhooks.failed);
}

function namespacesIn(value: Value, fallback: string | undefined): readonly string[] {
  if (!isMap(value)) return [];
  const { kind, items } = value;
  if (kind === "List" && isList(items)) return items.flatMap((item) => namespacesIn(item, fallback));
  const namespace = textAt(metadataOf(value), "namespace") || fallback;
  return namespace === undefined ? [] : [namespace];
}

/** The webhooks that are called for the pods of a namespace; unknown without its labels. */
function webhooksFor(known: Known | undefined, namespace: string): Known["webhooks"] {
  if (known === undefined) return { broken: "the manifest names no namespace", object: "" };
  const { webhooks } = known;
  if (webhooks === ASSUMED || !isKnown(webhooks) || webhooks.value.length === 0) return webhooks;
  if (!isAbsent(known)) return webhooks;
  return { broken: `there is no namespace "${namespace}"`, object: `namespace/${namespace}` };
}

function judgmentOf(target: Target, known: Known | undefined, native: NativeSetting | undefined): Judgment {
  const { manifest, row, namespace } = target;
  const pod = podOf(target);
  const webhooks = webhooksFor(known, namespace);
  const verdict = verdictOf({
    pod,
    owner: ownerOf(manifest, row, namespace),
    isMade: row.path.length > 0,
    namespaceLabels: known?.namespaceLabels ?? {},
    webhooks,
    injectorFor: (webhook) => injectorOf(webhook, { pod, known, native }),
  });
  refuseDoubt(verdict, { webhooks, known });
  const decision = decisionOf(verdict, target, { webhooks, known });
  const { injections } = verdict;
  const last = injections.at(-1);
  if (!decision.inject || last === undefined) return { decision, injectors: [], namespace };
  refuseUnknownNodes(injections, pod, known?.nodes);
  const by = { webhook: webhookName(last.webhook), revision: last.webhook.revision };
  return { decision, injectors: injections.map(({ injector }) => injector), namespace, by };
}

interface Seen {
  readonly pod: Pod;
  readonly known: Known | undefined;
  readonly native: NativeSetting | undefined;
}

/** The injector of a webhook, with the proxy variables of its URL; the nodes decide about native sidecars. */
function injectorOf(webhook: InjectorWebhook | undefined, { pod, known, native }: Seen): Observed<Injector> {
  const observed = known?.injectorFor(webhook) ?? { failed: "no cluster is asked" };
  if (webhook === undefined || !isKnown(observed)) return observed;
  const injector = native === undefined
    ? observed.value
    : { ...observed.value, nativeSidecars: native.native, nodesAsked: native.nodes };
  const nodes = known !== undefined && isKnown(known.nodes) ? known.nodes.value : undefined;
  const path = "url" in webhook.target ? URL.parse(webhook.target.url)?.pathname ?? "" : webhook.target.path;
  return {
    value: {
      ...injector,
      nativeSidecars: injector.nativeSidecars ||
        nativeByNodes(injector.nodesAsked, nodes, textAt(specOf(pod), "nodeName")),
      proxyEnvs: { ...injector.proxyEnvs, ...urlSettings(path) },
    },
  };
}

/** Throws for a pod that is refused, or whose injection is unknown. */
function refuseDoubt(verdict: Verdict, asked: Asked): void {
  const { reason: id, message, field } = verdict;
  if (verdict.verdict === "refused") {
    throw new InjectionError(id, `The webhook refuses the pod: ${message}`, place(field));
  }
  if (verdict.verdict === "cannot-tell") throw namespaceDoubt(asked) ?? doubt(id, message, field);
  if (verdict.verdict !== "injected" || verdict.isSure) return;
  const unknown = verdict.rules.find(({ effect }) => effect === "unknown");
  throw doubt("configuration-unknown", `several webhooks take it: ${unknown?.rule}: ${unknown?.message}`, field);
}

function doubt(id: string, message: string, field: string): InjectionError {
  return new InjectionError(id, `Cannot tell whether the webhook injects the pod: ${message}`, place(field));
}

/** Without the labels of the namespace it is unknown which webhooks are called. */
function namespaceDoubt({ webhooks, known }: Asked): InjectionError | undefined {
  if (webhooks === ASSUMED || isKnown(webhooks)) return undefined;
  if (known !== undefined && webhooks !== known.namespace && !isAbsent(known)) return undefined;
  return new InjectionError("namespace-unknown", `Cannot tell which webhooks are called: ${reason(webhooks)}`, {
    hint: known === undefined ? "name it with --namespace" : "the labels of the namespace decide",
  });
}

function isAbsent({ namespace }: Known): boolean {
  return isKnown(namespace) && !namespace.value;
}

function place(field: string) {
  return field === "" ? {} : { place: { field } };
}

interface Asked {
  readonly webhooks: Known["webhooks"];
  readonly known: Known | undefined;
}

function decisionOf(verdict: Verdict, target: Target, { webhooks, known }: Asked): Judgment["decision"] {
  const { injections, reason, field, message } = verdict;
  const first = injections[0];
  const pod = podOf(target);
  if (first !== undefined) {
    const { warnings } = decide(pod, { ...first.injector.config, byHand: false });
    return { inject: true, reason, field, message, warnings: [...warnings, ...severalOf(verdict)] };
  }
  if (reason !== "not-called" || webhooks === ASSUMED || !isKnown(webhooks)) {
    return { inject: false, reason, field, message, warnings: [] };
  }
  const { namespaceLabels = {} } = known ?? {};
  const labels = metadataOf(pod)["labels"];
  const cause = whyNotCalled({
    target,
    webhooks: webhooks.value,
    namespace: namespaceLabels,
    pod: isMap(labels) ? labels : {},
    pods: undefined,
  });
  return { inject: false, reason: cause.reason, field: cause.field, message: cause.message, warnings: [] };
}

function severalOf({ injecting }: Verdict): readonly string[] {
  if (injecting.length < 2) return [];
  const names = injecting.map((name) => `"${name}"`).join(", ");
  return [`${injecting.length} webhooks inject the pod in turn: ${names}: the last one counts`];
}

/** Where the nodes decide whether the proxy is a native sidecar, they must be known. */
function refuseUnknownNodes(
  injections: readonly Injection[],
  pod: Pod,
  nodes: Observed<NativeNodes> | undefined,
): void {
  if (nodes === undefined || isKnown(nodes)) return;
  const isSetByPod = nativeForPod(pod, true) === nativeForPod(pod, false);
  if (isSetByPod || injections.every(({ injector: { nodesAsked } }) => nodesAsked === "never")) return;
  throw new InjectionError(
    "native-unknown",
    `Cannot tell whether the webhook makes a native sidecar: the nodes decide: ${reason(nodes)}`,
    { hint: "ENABLE_NATIVE_SIDECARS=true or =false decides without them" },
  );
}
