import type { Namespace, Pod } from "../../../kube/client/mod.ts";
import { LABEL } from "../../../istio/annotations/labels.ts";
import { newMap, type ValueMap } from "../../../base/value.ts";
import { type Advice, byHand } from "../../advice/advice.ts";
import { relabelled } from "../../advice/enrolment.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { type Facts, inEach } from "../../facts.ts";
import { hasAllPods } from "../../inventory/mod.ts";
import { findingOf, type Problem } from "../findings.ts";
import { isCalled } from "./service.ts";

/**
 * Reports a webhook that is called for its own pods, which then cannot start again after an outage (istio #26380). If
 * the Service has no pods, its selector counts.
 */
export async function notItsOwn(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const problems = await inEach(webhooks.filter(isCalled), async (webhook) => {
    const { target } = webhook;
    const [namespace, service] = await Promise.all([facts.namespace(target.namespace), facts.service(target)]);
    if (namespace === undefined) return [];
    const pods = hasAllPods(facts.scope) ? await facts.pods() : [];
    const isSent = labelsBehind(pods, target.namespace, Object.assign(newMap(), service?.spec?.selector))
      .some((each) => sendsPod(webhook, labelsOfObject(namespace), each));
    return isSent ? [problemOf(webhook, adviceFor(namespace, webhooks, pods))] : [];
  });
  return findingOf(problems);
}

function problemOf(webhook: InjectorWebhook, advice: readonly Advice[]): Problem {
  const isSure = webhook.matchConditions.length === 0;
  const unless = isSure ? "" : ", unless its matchConditions exclude them";
  return {
    object: configurationRef(webhook),
    result: webhook.failurePolicy === "Fail" && isSure ? "error" : "warning",
    message: `"${webhook.name}" is called for its own pods: after an outage they cannot start again${unless}`,
    advice,
  };
}

/** Advice to exclude the namespace. Gateways in this namespace are still injected by the labels of their pods. */
function adviceFor(
  namespace: Namespace,
  webhooks: readonly InjectorWebhook[],
  pods: readonly Pod[],
): readonly Advice[] {
  const { name } = namespace.metadata;
  const labels = labelsOfObject(namespace);
  const present = [LABEL.injection, LABEL.revision].filter((key) => key in labels);
  const change = Object.fromEntries(present.map((key) => [key, undefined]));
  const selector = byHand(`exclude the namespace "${name}" with the namespaceSelector of the webhook`, "webhook");
  if (present.length === 0) return [selector];
  const enrolment = { name, labels, webhooks, pods };
  return [relabelled(enrolment, "remove the injection labels from the namespace", change), selector];
}

/** Returns the labels of the Service's pods, or the Service's selector if it has no pods. */
function labelsBehind(pods: readonly Pod[], namespace: string, selector: ValueMap): ValueMap[] {
  const wanted = Object.entries(selector);
  const own = pods.filter(({ metadata }) => wanted.length > 0 && metadata.namespace === namespace).map(labelsOfObject)
    .filter((labels) => wanted.every(([key, value]) => labels[key] === value));
  return own.length > 0 ? own : [selector];
}
