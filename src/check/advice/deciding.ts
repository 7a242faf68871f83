/** What decides about advice, over a cluster. */
import type { MutatingWebhookConfiguration } from "../../kube/client/mod.ts";
import { injectorWebhooks, isOfInjector } from "../inventory/injector_webhooks.ts";
import { type AccessRequest, isKnown, type Observed } from "../inventory/mod.ts";
import { isWithoutSidecars } from "../inventory/sidecars.ts";
import type { Deciding } from "./decide.ts";

/** What is asked. */
export interface DecidingSource {
  readonly istioNamespace: string;
  readonly mutatingWebhooks: () => Promise<Observed<readonly MutatingWebhookConfiguration[]>>;
  readonly may: (need: AccessRequest) => Promise<Observed<boolean>>;
}

/** The control plane's namespace is that of the scope, or where a webhook's pods are. */
export function decidingOver({ istioNamespace, mutatingWebhooks, may }: DecidingSource): Deciding {
  return {
    isProtected: async (name) => {
      if (isWithoutSidecars(name, { istioNamespace })) return true;
      const configurations = await mutatingWebhooks();
      return isKnown(configurations) && isOfInjector(name, injectorWebhooks(configurations.value));
    },
    may: async (need) => {
      const answer = await may(need);
      return isKnown(answer) ? answer.value : undefined;
    },
  };
}
