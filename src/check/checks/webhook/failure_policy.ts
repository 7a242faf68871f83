import { counted } from "../../../base/text/mod.ts";
import { type Advice, byHand, type Fix, harmless } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import type { Namespace, Pod } from "../../../kube/client/mod.ts";
import { anySends, configurationRef, type InjectorWebhook, labelsOfObject } from "../../inventory/injector_webhooks.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { entriesPatched, logged } from "./webhook_advice.ts";

/** During an outage, pods could not be recreated with Fail, and would start without a sidecar with Ignore. */
export async function failurePolicy(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const [namespaces, all] = await Promise.all([facts.namespaces(), facts.pods()]);
  const sentence = (policy: "Fail" | "Ignore", what: string) => {
    const own = webhooks.filter(({ failurePolicy }) => failurePolicy === policy);
    const radius = radiusOf(own, namespaces, all);
    const pods = counted(radius.pods, "pod");
    return { own, text: `${pods} in ${counted(radius.namespaces.length, "namespace")} ${what}` };
  };
  const ignoring = sentence("Ignore", "would start without a sidecar during an outage");
  const failing = sentence("Fail", "cannot be recreated during an outage");
  if (ignoring.own.length === 0) return { result: "ok", message: failing.text };
  return {
    result: "warning",
    message: `failurePolicy is Ignore: ${ignoring.text}`,
    objects: [...new Set(ignoring.own.map(configurationRef))],
    fixes: await fixesOf(ignoring.own, facts),
  };
}

/** Advises Fail only if a dry run shows that the webhook responds, because Fail blocks all pods if it does not. */
async function fixesOf(ignoring: readonly InjectorWebhook[], facts: Facts): Promise<readonly Fix[]> {
  const groups = Map.groupBy(ignoring, ({ configuration }) => configuration);
  return await Promise.all([...groups].map(async ([configuration, own]) => {
    const objects = [configurationRef({ configuration })];
    const runs = await Promise.all(own.map((webhook) => forAdvice(facts.dryRun(webhook))));
    const answers = runs.some((run) => run?.outcome === "injected");
    const alternatives: readonly Advice[] = answers
      ? [harmless(
        "set failurePolicy to Fail, and run more than one replica of the webhook",
        "webhook",
        entriesPatched(configuration, own.map(({ name }) => ({ name, failurePolicy: "Fail" }))),
      )]
      : [
        byHand("make the webhook respond, then set failurePolicy to Fail", "mesh"),
        ...own.slice(0, 1).flatMap(({ target }) => logged(target)),
      ];
    return { objects, alternatives };
  }));
}

/** The number of live pods that would match a webhook if they were recreated, and the namespaces of these pods. */
interface Radius {
  readonly pods: number;
  readonly namespaces: readonly string[];
}

function radiusOf(
  webhooks: readonly InjectorWebhook[],
  namespaces: readonly Namespace[],
  pods: readonly Pod[],
): Radius {
  const labels = new Map(namespaces.map((namespace) => [namespace.metadata.name, labelsOfObject(namespace)]));
  const counted = new Set<string>();
  let count = 0;
  for (const pod of pods) {
    const { namespace = "" } = pod.metadata;
    const of = labels.get(namespace);
    if (of === undefined || !anySends(webhooks, of, labelsOfObject(pod))) continue;
    count++;
    counted.add(namespace);
  }
  return { pods: count, namespaces: [...counted].sort() };
}
