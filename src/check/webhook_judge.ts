/** Decides whether the workloads in manifests are injected, as the webhooks of a cluster would. */
import type { KubeApi } from "../kube/client/mod.ts";
import { isList, isMap, type Value, type ValueMap } from "../base/value.ts";
import {
  type ClusterChoice,
  decide,
  InjectionError,
  type InjectionSnapshot,
  type Judgment,
  labelsOf,
  type NativeChoice,
  ownerOf,
  type WorkloadKind,
} from "../inject/mod.ts";
import { isKnown } from "./inventory/observed.ts";
import type { Source } from "./inventory/source.ts";
import type { Knowledge } from "./injection/explanation.ts";
import { clusterKnowledge } from "./injection/knowledge.ts";
import { whyNotCalled } from "./injection/not_called.ts";
import { podOf, type Target, targetOfKind } from "./injection/target.ts";
import { ASSUMED, type Verdict, verdictOf, webhookName } from "./injection/verdict.ts";
import { MeshError } from "../base/errors.ts";

export interface WebhookAsking {
  readonly api: KubeApi;
  readonly clock: Source["clock"];
  /** The user's choice of the control plane: revision, namespace, and names of ConfigMaps. */
  readonly choice: ClusterChoice;
  /** The snapshot that the API serves; `undefined` for a cluster. */
  readonly snapshot?: InjectionSnapshot | undefined;
  /** The namespace for manifests that do not name one. If `undefined`, their pods cannot be judged. */
  readonly namespace: string | undefined;
  /** Replaces the setting for native sidecars in the control planes' environment, which no API shows. */
  readonly native: NativeChoice | undefined;
}

/** Decides whether workloads are injected, for `injectionBy`. */
export interface WebhookJudge {
  /** Reads the namespaces of a document from the cluster. Throws a MeshError if the cluster does not respond. */
  prepare(value: Value): Promise<void>;
  /** Throws an InjectionError for a pod that is refused, or whose injection is unknown. */
  judge(manifest: ValueMap, row: WorkloadKind): Judgment;
}

/** The judge reads webhooks, control planes and nodes at most once, and a namespace when a document names it. */
export function webhookJudge(asking: WebhookAsking): WebhookJudge {
  const ofNamespace = clusterKnowledge({ ...asking, given: undefined, wantsPods: false });
  const known = new Map<string, Knowledge>();
  return {
    async prepare(value) {
      for (const namespace of namespacesIn(value, asking.namespace)) {
        if (known.has(namespace)) continue;
        const knowledge = await ofNamespace(namespace);
        const { webhooks } = knowledge;
        // Otherwise every document would fail with the same error.
        if (webhooks !== ASSUMED && "failed" in webhooks) throw new MeshError(webhooks.failed);
        known.set(namespace, knowledge);
      }
    },
    judge(manifest, row) {
      const target = targetOfKind(manifest, row, { namespace: asking.namespace ?? "", file: "" });
      const knowledge = known.get(target.namespace);
      if (knowledge === undefined) {
        throw new InjectionError(
          "namespace-unknown",
          `The namespace "${target.namespace}" of the manifest was not read`,
        );
      }
      return judgmentOf(target, knowledge);
    },
  };
}

/** Returns the namespaces that a document names. Injection also reads a misspelt `Namespace`, with a warning. */
function namespacesIn(value: Value, fallback = ""): readonly string[] {
  if (!isMap(value)) return [];
  const { kind, items } = value;
  if (kind === "List" && isList(items)) return items.flatMap((item) => namespacesIn(item, fallback));
  const found = inAnyCase(value, "metadata").flatMap((metadata) => inAnyCase(metadata, "namespace"));
  const named = found.filter((name) => name !== null && name !== "" && !isMap(name) && !isList(name));
  return named.length === 0 ? [fallback] : named.map(String);
}

function inAnyCase(value: Value, key: string): readonly Value[] {
  return isMap(value) ? Object.entries(value).flatMap(([name, own]) => name.toLowerCase() === key ? [own] : []) : [];
}

function judgmentOf(target: Target, known: Knowledge): Judgment {
  const { manifest, row, namespace } = target;
  const pod = podOf(target);
  const owner = ownerOf(manifest, row, namespace);
  const verdict = verdictOf({ ...known, pod, owner, isMade: row.path.length > 0 });
  refuseDoubt(verdict);
  const decision = decisionOf(verdict, target, known);
  const { injections } = verdict;
  const last = injections.at(-1);
  if (!decision.inject || last === undefined) return { decision, injectors: [], namespace };
  const by = { webhook: webhookName(last.webhook), revision: last.webhook.revision };
  return { decision, injectors: injections.map(({ injector }) => injector), namespace, by };
}

/** Throws for a pod that is refused, or whose injection is unknown. */
function refuseDoubt(verdict: Verdict): void {
  const { reason: id, message, field } = verdict;
  if (verdict.verdict === "refused") {
    throw new InjectionError(id, `The webhook refuses the pod: ${message}`, place(field));
  }
  if (verdict.verdict === "cannot-tell") throw doubt(id, message, field);
  if (verdict.verdict !== "injected" || verdict.isSure) return;
  const unknown = verdict.rules.find(({ effect }) => effect === "unknown");
  const why = `several webhooks may inject the pod: ${unknown?.rule}: ${unknown?.message}`;
  throw doubt("configuration-unknown", why, field);
}

function doubt(id: string, message: string, field: string): InjectionError {
  // The message of an unknown namespace or webhook says the same.
  if (message.startsWith("cannot tell")) return new InjectionError(id, `C${message.slice(1)}`, place(field));
  const what = id === "native-unknown" ? "how" : "whether";
  return new InjectionError(id, `Cannot tell ${what} the webhook injects the pod: ${message}`, place(field));
}

function place(field: string) {
  return field === "" ? {} : { place: { field } };
}

function decisionOf(
  verdict: Verdict,
  target: Target,
  { webhooks, namespaceLabels }: Knowledge,
): Judgment["decision"] {
  const { injections: [first], reason, field, message } = verdict;
  const pod = podOf(target);
  if (first !== undefined) {
    const { warnings } = decide(pod, { ...first.injector.config, byHand: false });
    return { inject: true, reason, field, message, warnings: [...warnings, ...severalOf(verdict)] };
  }
  const none = { inject: false, warnings: [] };
  if (reason !== "not-called" || webhooks === ASSUMED || !isKnown(webhooks)) return { ...none, reason, field, message };
  const unreached = { target, webhooks: webhooks.value, namespace: namespaceLabels, pods: undefined };
  const { advice: _advice, ...cause } = whyNotCalled({ ...unreached, pod: labelsOf(pod) });
  return { ...none, ...cause };
}

function severalOf({ injecting }: Verdict): readonly string[] {
  if (injecting.length < 2) return [];
  const names = injecting.map((name) => `"${name}"`).join(", ");
  return [`${injecting.length} webhooks inject the pod in turn (${names}), and the last injection counts`];
}
