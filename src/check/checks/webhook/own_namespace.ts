import type { Pod, Service } from "../../../core/kube/client/mod.ts";
import { newMap, type ValueMap } from "../../../core/value.ts";
import type { Finding } from "../../check.ts";
import { configurationRef, type InjectorWebhook, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { type Inventory, isKnown } from "../../inventory/mod.ts";
import { cannotTell, findingOf, type Problem } from "../findings.ts";
import { isCalled } from "./service.ts";

/** A webhook that is called for its own pods cannot start again once it is down (istio #26380). */
export async function notItsOwn(webhooks: readonly InjectorWebhook[], inventory: Inventory): Promise<Finding> {
  const [namespaces, pods] = await Promise.all([inventory.namespaces(), inventory.allPods()]);
  if (!isKnown(namespaces)) return cannotTell(namespaces);
  const problems: Problem[] = [];
  for (const webhook of webhooks.filter(isCalled)) {
    const { target } = webhook;
    const namespace = namespaces.value.find(({ metadata }) => metadata.name === target.namespace);
    const service = await inventory.service(target);
    const selector = isKnown(service) ? selectorOf(service.value) : newMap();
    const labels = labelsBehind(isKnown(pods) ? pods.value : [], target.namespace, selector);
    const isSent = namespace !== undefined &&
      labels.some((each) => sendsPod(webhook, labelsOfObject(namespace), each));
    if (isSent) problems.push(problemOf(webhook));
  }
  return findingOf(problems, "remove the injection labels from that namespace");
}

function problemOf(webhook: InjectorWebhook): Problem {
  const isSure = webhook.matchConditions.length === 0;
  const unless = isSure ? "" : ", unless its matchConditions exclude them";
  return {
    object: configurationRef(webhook),
    result: webhook.failurePolicy === "Fail" && isSure ? "error" : "warning",
    message: `"${webhook.name}" is called for its own pods: once they are down they cannot start again${unless}`,
  };
}

/** Labels of the pods of a Service; without pods, its selector. */
function labelsBehind(pods: readonly Pod[], namespace: string, selector: ValueMap): ValueMap[] {
  const wanted = Object.entries(selector);
  const own = pods.filter(({ metadata }) => wanted.length > 0 && metadata.namespace === namespace).map(labelsOfObject)
    .filter((labels) => wanted.every(([key, value]) => labels[key] === value));
  return own.length > 0 ? own : [selector];
}

function selectorOf(service: Service | undefined): ValueMap {
  return Object.assign(newMap(), service?.spec?.selector);
}
