/** What the checks of webhooks begin with: the webhooks that are looked at. */
import type { Finding } from "../../check.ts";
import { cannotTell, type Fact, type Facts, isKnown } from "../../inventory/mod.ts";
import { type InjectorWebhook, injectorWebhooks } from "../../inventory/injector_webhooks.ts";

/** Those that inject; with a revision in the scope, those of it. */
export async function injectorsOf(facts: Facts): Promise<Fact<readonly InjectorWebhook[]>> {
  const configurations = await facts.mutatingWebhooks();
  if (!isKnown(configurations)) return configurations;
  const { revision: wanted } = facts.scope;
  const all = injectorWebhooks(configurations.value);
  return { value: all.filter(({ revision, tag }) => wanted === undefined || revision === wanted || tag === wanted) };
}

/** A check over the webhooks, which cannot tell anything where they cannot be read. */
export function overInjectors(
  judge: (webhooks: readonly InjectorWebhook[], facts: Facts) => Promise<Finding> | Finding,
): (facts: Facts) => Promise<Finding> {
  return async (facts) => {
    const webhooks = await injectorsOf(facts);
    return isKnown(webhooks) ? await judge(webhooks.value, facts) : cannotTell(webhooks);
  };
}

/** What Istio puts into the selectors of a configuration whose place a tag has taken: no namespace has it. */
const DEACTIVATED = "istio.io/deactivated";

/** Whether a webhook can be sent anything at all. */
export function isActive({ namespaceSelector, objectSelector }: InjectorWebhook): boolean {
  return !JSON.stringify([namespaceSelector, objectSelector]).includes(DEACTIVATED);
}

/** The first webhook of each group that has the same key. */
export function distinct(
  webhooks: readonly InjectorWebhook[],
  key: (webhook: InjectorWebhook) => unknown,
): InjectorWebhook[] {
  return [...new Map(webhooks.toReversed().map((webhook) => [JSON.stringify(key(webhook)), webhook])).values()]
    .toReversed();
}
