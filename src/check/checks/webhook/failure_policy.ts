import { counted } from "../../../base/text/mod.ts";
import { type Advice, byHand, type Fix, harmless } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import {
  anySends,
  configurationRef,
  type InjectorWebhook,
  labelsByNamespace,
  labelsOfObject,
} from "../../inventory/injector_webhooks.ts";
import { type Facts, forAdvice } from "../../facts.ts";
import { entriesPatched, logged } from "./webhook_advice.ts";

/** Warns about Ignore. During an outage, pods start without a sidecar with Ignore, and cannot be recreated with Fail. */
export async function failurePolicy(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const [namespaces, all] = await Promise.all([facts.namespaces(), facts.pods()]);
  const labels = labelsByNamespace(namespaces);
  const affected = (own: readonly InjectorWebhook[]) => {
    const pods = all.filter((pod) => {
      const of = labels.get(pod.metadata.namespace ?? "");
      return of !== undefined && anySends(own, of, labelsOfObject(pod));
    });
    const count = new Set(pods.map(({ metadata }) => metadata.namespace)).size;
    return `${counted(pods.length, "pod")} in ${counted(count, "namespace")}`;
  };
  const ignoring = webhooks.filter(({ failurePolicy }) => failurePolicy === "Ignore");
  if (ignoring.length === 0) {
    return { result: "ok", message: `${affected(webhooks)} cannot be recreated during an outage` };
  }
  return {
    result: "warning",
    message: `failurePolicy is Ignore: ${affected(ignoring)} would start without a sidecar during an outage`,
    objects: [...new Set(ignoring.map(configurationRef))],
    fixes: await fixesOf(ignoring, facts),
  };
}

/** Advises Fail only if a dry run shows that the webhook responds. Without a response, Fail blocks all pods. */
async function fixesOf(ignoring: readonly InjectorWebhook[], facts: Facts): Promise<readonly Fix[]> {
  const groups = Map.groupBy(ignoring, ({ configuration }) => configuration);
  return await Promise.all([...groups].map(async ([configuration, own]) => {
    const objects = [configurationRef({ configuration })];
    const runs = await Promise.all(own.map((webhook) => forAdvice(facts.dryRun(webhook))));
    const answers = runs.some((run) => run?.outcome === "injected");
    const patched = entriesPatched(configuration, own.map(({ name }) => ({ name, failurePolicy: "Fail" })));
    const alternatives: readonly Advice[] = answers
      ? [harmless("set failurePolicy to Fail, and run more than one replica of the webhook", "webhook", patched)]
      : [
        byHand("make the webhook respond, then set failurePolicy to Fail", "mesh"),
        ...own.slice(0, 1).flatMap(({ target }) => logged(target)),
      ];
    return { objects, alternatives };
  }));
}
