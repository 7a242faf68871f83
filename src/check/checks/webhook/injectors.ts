/** Selects the injection webhooks in the scope. */
import type { Finding } from "../../check.ts";
import type { Facts } from "../../facts.ts";
import type { InjectorWebhook } from "../../inventory/injector_webhooks.ts";

export type InjectorsJudge = (webhooks: readonly InjectorWebhook[], facts: Facts) => Promise<Finding> | Finding;

/** Returns a check that judges all injection webhooks in the scope: of all revisions, or of the user's. */
export function overInjectors(judge: InjectorsJudge): (facts: Facts) => Promise<Finding> {
  return async (facts) => {
    const { revision: wanted } = facts.scope;
    const all = await facts.injectors();
    const webhooks = all.filter(({ revision, tag }) => wanted === undefined || revision === wanted || tag === wanted);
    return await judge(webhooks, facts);
  };
}

/** Istio adds this label, which no namespace has, to the selectors of a configuration that a tag replaces. */
const DEACTIVATED = "istio.io/deactivated";

/** Whether any pod can match a webhook. */
export function isActive({ namespaceSelector, objectSelector }: InjectorWebhook): boolean {
  return !JSON.stringify([namespaceSelector, objectSelector]).includes(DEACTIVATED);
}

/** Returns the first item for each key. */
export function distinct<T>(all: readonly T[], key: (each: T) => unknown): T[] {
  return [...new Map(all.toReversed().map((each) => [JSON.stringify(key(each)), each])).values()].toReversed();
}
