/**
 * Facts of a cluster, each asked for when a check wants it, and at most once. A group of resources is a file here with a
 * function that gives its getters; they are put together below.
 */
import { injectorFacts } from "./injectors.ts";
import { limitFacts } from "./limits.ts";
import { namespaceFacts } from "./namespaces.ts";
import { nodeFacts } from "./nodes.ts";
import { podFacts } from "./pods.ts";
import type { Source } from "./source.ts";
import { webhookFacts } from "./webhooks.ts";
import { workloadFacts } from "./workloads.ts";

/** All getters over one cluster. A check asks them; a new object of facts asks the cluster anew. */
export function factsOf(source: Source) {
  const webhooks = webhookFacts(source);
  return {
    scope: source.scope,
    clock: source.clock,
    ...limitFacts(source),
    ...namespaceFacts(source),
    ...nodeFacts(source),
    ...podFacts(source),
    ...webhooks,
    ...injectorFacts(source, webhooks.mutatingWebhooks),
    ...workloadFacts(source),
  };
}

export type Facts = ReturnType<typeof factsOf>;

export { asFact, cannotTell, type Fact, isKnown, type Known, once, reason, type Unknown } from "./fact.ts";
export { type CheckApi, listOf, objectOf, type Scope, type Source } from "./source.ts";
