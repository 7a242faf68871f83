/**
 * Facts of a cluster, each asked for when a check wants it, and at most once. A group of resources is a file here with a
 * function that gives its getters; they are put together below.
 */
import { injectorFacts } from "./injectors.ts";
import { limitFacts } from "./limits.ts";
import { dryRunFacts } from "./dry_run.ts";
import { expectationFacts } from "./expectations.ts";
import { namespaceFacts } from "./namespaces.ts";
import { nodeFacts } from "./nodes.ts";
import { podFacts } from "./pods.ts";
import { sidecarFacts } from "./sidecars.ts";
import { serverFacts } from "./server.ts";
import { serviceFacts } from "./services.ts";
import type { Source } from "./source.ts";
import { webhookFacts } from "./webhooks.ts";
import { workloadFacts } from "./workloads.ts";

/** All getters over one cluster. A check asks them; a new object of facts asks the cluster anew. */
export function factsOf(source: Source) {
  const namespaces = namespaceFacts(source);
  const webhooks = webhookFacts(source);
  const pods = podFacts(source);
  const injectors = injectorFacts(source, webhooks.mutatingWebhooks);
  return {
    scope: source.scope,
    clock: source.clock,
    ...limitFacts(source),
    ...namespaces,
    ...dryRunFacts(source, namespaces.namespaces),
    ...serverFacts(source),
    ...serviceFacts(source),
    ...nodeFacts(source),
    ...pods,
    ...expectationFacts(source, { ...pods, ...namespaces, ...webhooks, ...injectors }),
    ...webhooks,
    ...injectors,
    ...sidecarFacts(source, { ...namespaces, ...webhooks, ...injectors }),
    ...workloadFacts(source),
  };
}

export type Facts = ReturnType<typeof factsOf>;

export {
  asFact,
  type Broken,
  cannotTell,
  type Fact,
  isKnown,
  type Known,
  once,
  reason,
  type Unknown,
} from "./observed.ts";
export { type CheckApi, listOf, objectOf, type Scope, type Source } from "./source.ts";
