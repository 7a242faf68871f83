/** Selects the injection webhooks in the scope. */
import type { Finding } from "../../check.ts";
import type { Facts } from "../../facts.ts";
import type { InjectorWebhook } from "../../inventory/injector_webhooks.ts";

/** Returns all injection webhooks, or only the webhooks of the scope's revision. */
async function injectorsOf({ injectors, scope: { revision: wanted } }: Facts): Promise<InjectorWebhook[]> {
  return (await injectors())
    .filter(({ revision, tag }) => wanted === undefined || revision === wanted || tag === wanted);
}

/** Returns a check that judges all injection webhooks in the scope. */
export function overInjectors(
  judge: (webhooks: readonly InjectorWebhook[], facts: Facts) => Promise<Finding> | Finding,
): (facts: Facts) => Promise<Finding> {
  return async (facts) => await judge(await injectorsOf(facts), facts);
}

/** Istio adds this label, which no namespace has, to the selectors of a configuration that a tag replaces. */
const DEACTIVATED = "istio.io/deactivated";

/** Whether any pod can match a webhook. */
export function isActive({ namespaceSelector, objectSelector }: InjectorWebhook): boolean {
  return !JSON.stringify([namespaceSelector, objectSelector]).includes(DEACTIVATED);
}

/** Returns the first webhook for each key. */
export function distinct(
  webhooks: readonly InjectorWebhook[],
  key: (webhook: InjectorWebhook) => unknown,
): InjectorWebhook[] {
  return [...new Map(webhooks.toReversed().map((webhook) => [JSON.stringify(key(webhook)), webhook])).values()]
    .toReversed();
}
