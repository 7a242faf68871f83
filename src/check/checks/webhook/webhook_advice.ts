/** Advice to change webhook configurations and their servers. */
import { type Advice, byHand, harmless, look, type Risk } from "../../advice/advice.ts";
import { logs, type Named, patch, remove, rolloutRestart } from "../../advice/commands.ts";
import { riskOfRemoval } from "../../advice/enrolment.ts";
import { labelsOfObject, type WebhookTarget } from "../../inventory/injector_webhooks.ts";
import { hasAllPods } from "../../inventory/mod.ts";
import { type Facts, forAdvice } from "../../facts.ts";

/** Returns the Deployment behind a Service. istiod and this program's webhook use the same name for both. */
function deploymentOf(target: WebhookTarget): Named | undefined {
  return "url" in target ? undefined : { kind: "deployment", namespace: target.namespace, name: target.name };
}

/** Advice to restart the control plane, which then creates its certificate and writes the caBundle. */
export function restarted(target: WebhookTarget): readonly Advice[] {
  const deployment = deploymentOf(target);
  if (deployment === undefined) return [byHand("restart the webhook, or write the caBundle by hand", "mesh")];
  return [harmless("restart the control plane, which then writes the caBundle", "mesh", rolloutRestart(deployment))];
}

export function logged(target: WebhookTarget): readonly Advice[] {
  const deployment = deploymentOf(target);
  return deployment === undefined ? [] : [look("see its log", logs(deployment))];
}

export function configurationNamed(name: string): Named {
  return { kind: "mutatingwebhookconfiguration", namespace: "", name };
}

/** Patches webhooks of a configuration. Each item contains the name of a webhook and its new fields. */
export function entriesPatched(
  configuration: string,
  webhooks: readonly ({ readonly name: string } & Readonly<Record<string, unknown>>)[],
) {
  return patch(configurationNamed(configuration), { webhooks }, "strategic");
}

/** Advice to delete a configuration. Risky if pods that match this configuration match no other configuration. */
export async function deleted(configuration: string, change: string, facts: Facts): Promise<Advice> {
  const risk = await riskWithout((name) => name === configuration, facts);
  return { change, reach: "cluster", steps: [remove(configurationNamed(configuration))], risk };
}

/** Returns the risk of removing configurations. */
export async function riskWithout(isRemoved: (configuration: string) => boolean, facts: Facts): Promise<Risk> {
  const [webhooks, namespaces, pods] = await Promise.all([
    forAdvice(facts.injectors()),
    forAdvice(facts.namespaces()),
    forAdvice(facts.pods()),
  ]);
  if (webhooks === undefined || namespaces === undefined || !hasAllPods(facts.scope)) return "takes-out";
  const labelled = namespaces.map((each) => [each.metadata.name, labelsOfObject(each)] as const);
  return riskOfRemoval(webhooks, ({ configuration }) => isRemoved(configuration), labelled, pods);
}
