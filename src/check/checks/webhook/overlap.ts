import type { Namespace, Pod } from "../../../core/kube/client/mod.ts";
import type { ValueMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import { type Facts, firstKnown } from "../../facts.ts";
import { type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { findingOf, type Problem } from "../findings.ts";
import { distinct } from "./injectors.ts";
import { labelsToTry } from "./selected.ts";

/** No pod matches two webhooks: the second would inject an injected pod. */
export async function noOverlap(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const namespaces = await facts.namespaces();
  const problems = await firstKnown([
    async () => overlaps(webhooks, namespaces, await facts.pods()),
    // Some overlaps need no label of a live pod.
    () => {
      const sure = overlaps(webhooks, namespaces, []);
      return sure.length === 0 ? undefined : sure;
    },
  ]);
  return findingOf(problems ?? [], "change the labels of the namespace, or delete one of the configurations");
}

function overlaps(
  webhooks: readonly InjectorWebhook[],
  namespaces: readonly Namespace[],
  pods: readonly Pod[],
): readonly Problem[] {
  const byNamespace = Map.groupBy(pods, ({ metadata }) => metadata.namespace ?? "");
  return namespaces.flatMap((namespace): Problem[] => {
    const { name } = namespace.metadata;
    const clash = labelsToTry(webhooks, byNamespace.get(name) ?? [])
      .map(({ labels, isReal }) => ({ labels, isReal, both: takers(webhooks, labelsOfObject(namespace), labels) }))
      .find(({ both }) => both.length > 1);
    if (clash === undefined) return [];
    const names = clash.both.map(({ configuration, name }) => `${configuration} (${name})`).join(" and ");
    const isSure = clash.both.every(({ matchConditions }) => matchConditions.length === 0);
    const unless = isSure ? "" : ", unless their matchConditions keep them apart";
    const message = `pods ${labelsText(clash.labels)} match ${names}${unless}`;
    return [{ object: `namespace/${name}`, result: clash.isReal && isSure ? "error" : "warning", message }];
  });
}

/** The webhooks that a pod matches. A configuration and its tag call the same target and count once. */
function takers(webhooks: readonly InjectorWebhook[], namespace: ValueMap, pod: ValueMap): InjectorWebhook[] {
  return distinct(webhooks.filter((webhook) => sendsPod(webhook, namespace, pod)), ({ configuration, name }) => {
    return [configuration, name];
  });
}

function labelsText(labels: ValueMap): string {
  const pairs = Object.entries(labels).map(([key, value]) => `${key}=${value}`);
  return pairs.length === 0 ? "without labels" : `with ${pairs.join(", ")}`;
}
