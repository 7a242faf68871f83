import type { LabelSelector, Namespace, Pod } from "../../../kube/client/mod.ts";
import { newMap, type ValueMap } from "../../../base/value.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { type Advice, byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import { type Facts, firstKnown } from "../../facts.ts";
import { type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { findingOf, type Problem } from "../findings.ts";
import { distinct } from "./injectors.ts";
import { deleted } from "./webhook_advice.ts";

/** Checks that no pod matches two webhooks, because the second would inject the pod again. */
export async function noOverlap(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const namespaces = await facts.namespaces();
  const found = await firstKnown([
    async () => overlaps(webhooks, namespaces, await facts.pods()),
    // Some overlaps are visible without the labels of live pods.
    () => {
      const sure = overlaps(webhooks, namespaces, []);
      return sure.length === 0 ? undefined : sure;
    },
  ]);
  const problems = await Promise.all((found ?? []).map(async ({ problem, both }) => {
    return { ...problem, advice: await adviceFor(both, facts) };
  }));
  return findingOf(problems);
}

/** Advice to choose one control plane, or to delete a configuration. Suggests to delete the last configuration first. */
async function adviceFor(both: readonly InjectorWebhook[], facts: Facts): Promise<readonly Advice[]> {
  const names = [...new Set(both.map(({ configuration }) => configuration))];
  const change = "choose one control plane with the label istio-injection or istio.io/rev";
  const removed = names.length < 2 ? [] : names.toReversed();
  const removals = removed.map((name) => deleted(name, `delete the configuration "${name}"`, facts));
  return [byHand(change, "namespace"), ...await Promise.all(removals)];
}

interface Overlap {
  readonly problem: Problem;
  readonly both: readonly InjectorWebhook[];
}

function overlaps(
  webhooks: readonly InjectorWebhook[],
  namespaces: readonly Namespace[],
  pods: readonly Pod[],
): readonly Overlap[] {
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace ?? "");
  return namespaces.flatMap((namespace): Overlap[] => {
    const { name } = namespace.metadata;
    const clash = labelsToTry(webhooks, byNamespace.get(name) ?? [])
      .map(({ labels, isReal }) => ({ labels, isReal, both: takers(webhooks, labelsOfObject(namespace), labels) }))
      .find(({ both }) => both.length > 1);
    if (clash === undefined) return [];
    const names = clash.both.map(({ configuration, name }) => `${configuration} (${name})`).join(" and ");
    const isSure = clash.both.every(({ matchConditions }) => matchConditions.length === 0);
    const unless = isSure ? "" : ", unless their matchConditions exclude each other";
    const message = `pods ${labelsText(clash.labels)} match ${names}${unless}`;
    const result = clash.isReal && isSure ? "error" : "warning";
    return [{ problem: { object: `namespace/${name}`, result, message }, both: clash.both }];
  });
}

/** Returns the webhooks that a pod matches. Webhooks with the same name in one configuration count once. */
function takers(webhooks: readonly InjectorWebhook[], namespace: ValueMap, pod: ValueMap): InjectorWebhook[] {
  return distinct(webhooks.filter((webhook) => sendsPod(webhook, namespace, pod)), ({ configuration, name }) => {
    return [configuration, name];
  });
}

function labelsText(labels: ValueMap): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? "without labels" : `with ${pairs.join(", ")}`;
}

/** Labels that a pod of a namespace may have. */
interface Candidate {
  readonly labels: ValueMap;
  /** True for the empty set and for labels of live pods. False for injection labels that no pod has yet. */
  readonly isReal: boolean;
}

/** Returns the label sets to try in a namespace: no labels, the relevant labels of its pods, and injection labels. */
function labelsToTry(webhooks: readonly InjectorWebhook[], pods: readonly Pod[]): Candidate[] {
  const keys = new Set(webhooks.flatMap(({ objectSelector }) => keysOf(objectSelector)));
  const own = pods.map((pod) => {
    const labels = labelsOfObject(pod);
    return Object.fromEntries([...keys].flatMap((key) => key in labels ? [[key, labels[key] ?? ""]] : []));
  });
  const revisions = webhooks.map(({ tag, revision }) => ({ [LABEL.revision]: tag ?? revision }));
  const candidates = [
    ...[newMap(), ...own].map((labels) => ({ labels, isReal: true })),
    ...[{ [LABEL.inject]: "true" }, ...revisions].map((labels) => ({ labels, isReal: false })),
  ];
  return distinct(candidates, ({ labels }) => labels);
}

function keysOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string[] {
  return [...Object.keys(matchLabels), ...matchExpressions.flatMap(({ key }) => key ?? [])];
}
