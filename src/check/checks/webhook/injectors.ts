/** What the checks of webhooks begin with: the webhooks that are looked at. */
import { cannotTell } from "../findings.ts";
import type { Finding } from "../../check.ts";
import { type Inventory, isKnown, type Observed } from "../../inventory/mod.ts";
import { type InjectorWebhook, injectorWebhooks } from "../../inventory/injector_webhooks.ts";

/** Those that inject; with a revision in the scope, those of it. */
export async function injectorsOf(inventory: Inventory): Promise<Observed<readonly InjectorWebhook[]>> {
  const configurations = await inventory.mutatingWebhooks();
  if (!isKnown(configurations)) return configurations;
  const { revision: wanted } = inventory.scope;
  const all = injectorWebhooks(configurations.value);
  return { value: all.filter(({ revision, tag }) => wanted === undefined || revision === wanted || tag === wanted) };
}

/** A check over the webhooks, which cannot tell anything where they cannot be read. */
export function overInjectors(
  judge: (webhooks: readonly InjectorWebhook[], inventory: Inventory) => Promise<Finding> | Finding,
): (inventory: Inventory) => Promise<Finding> {
  return async (inventory) => {
    const webhooks = await injectorsOf(inventory);
    return isKnown(webhooks) ? await judge(webhooks.value, inventory) : cannotTell(webhooks);
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
