/** The injection webhooks in the scope. */
import { cannotTell } from "../findings.ts";
import type { Finding } from "../../check.ts";
import { type Inventory, isKnown, type Observed } from "../../inventory/mod.ts";
import { type InjectorWebhook, injectorWebhooks } from "../../inventory/injector_webhooks.ts";

/** All injection webhooks, or those of the scope's revision. */
async function injectorsOf(inventory: Inventory): Promise<Observed<readonly InjectorWebhook[]>> {
  const configurations = await inventory.mutatingWebhooks();
  if (!isKnown(configurations)) return configurations;
  const { revision: wanted } = inventory.scope;
  const all = injectorWebhooks(configurations.value);
  return { value: all.filter(({ revision, tag }) => wanted === undefined || revision === wanted || tag === wanted) };
}

/** A check over the webhooks; `unknown` if they cannot be read. */
export function overInjectors(
  judge: (webhooks: readonly InjectorWebhook[], inventory: Inventory) => Promise<Finding> | Finding,
): (inventory: Inventory) => Promise<Finding> {
  return async (inventory) => {
    const webhooks = await injectorsOf(inventory);
    return isKnown(webhooks) ? await judge(webhooks.value, inventory) : cannotTell(webhooks);
  };
}

/** Istio's label in the selectors of a configuration that a tag replaced: no namespace has it. */
const DEACTIVATED = "istio.io/deactivated";

/** Whether any pod can match a webhook. */
export function isActive({ namespaceSelector, objectSelector }: InjectorWebhook): boolean {
  return !JSON.stringify([namespaceSelector, objectSelector]).includes(DEACTIVATED);
}

/** The first webhook for each key. */
export function distinct(
  webhooks: readonly InjectorWebhook[],
  key: (webhook: InjectorWebhook) => unknown,
): InjectorWebhook[] {
  return [...new Map(webhooks.toReversed().map((webhook) => [JSON.stringify(key(webhook)), webhook])).values()]
    .toReversed();
}
