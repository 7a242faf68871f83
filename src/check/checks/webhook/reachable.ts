import type { Finding } from "../../check.ts";
import type { DryRun } from "../../facts/dry_run.ts";
import { configurationRef, type InjectorWebhook } from "../../facts/injector_webhooks.ts";
import { cannotTell, type Facts, isKnown } from "../../facts/mod.ts";
import { findingOf, type Problem } from "../findings.ts";
import { adviceFor } from "./failures.ts";
import { distinct, isActive } from "./injectors.ts";
import { isCalled, podPort } from "./service.ts";

/**
 * The API server reaches each webhook: a pod that goes to it is sent as a dry run, and comes back with a sidecar. One pod
 * for each configuration and what it calls: of its webhooks the first that selects a namespace.
 */
export async function reachable(webhooks: readonly InjectorWebhook[], facts: Facts): Promise<Finding> {
  const problems: Problem[] = [];
  const tried: string[] = [];
  let doubt: string | undefined;
  for (const group of groupsOf(webhooks)) {
    const found = await firstRun(group, facts);
    if ("finding" in found) return found.finding;
    if (found.run === undefined) continue;
    tried.push(found.run.namespace);
    const verdict = await verdictOf(found.webhook, found.run, facts);
    if ("doubt" in verdict) doubt ??= verdict.doubt;
    else if (verdict.message !== undefined) {
      problems.push({ object: configurationRef(found.webhook), result: "error", message: verdict.message });
    }
  }
  if (problems.length > 0) return findingOf(problems);
  if (doubt !== undefined) return { result: "unknown", message: `cannot tell: ${doubt}` };
  if (tried.length === 0) return { result: "skipped", message: "no namespace is selected in which it could be tried" };
  return { result: "ok", message: `by a dry run in the namespace ${[...new Set(tried)].join(", ")}` };
}

/** The webhooks of a configuration that call the same. */
function groupsOf(webhooks: readonly InjectorWebhook[]): InjectorWebhook[][] {
  const active = webhooks.filter(isActive);
  const key = ({ configuration, target }: InjectorWebhook) => JSON.stringify([configuration, target]);
  return distinct(active, key).map((first) => active.filter((webhook) => key(webhook) === key(first)));
}

type Found = { readonly finding: Finding } | { readonly webhook: InjectorWebhook; readonly run: DryRun | undefined };

async function firstRun(group: readonly InjectorWebhook[], facts: Facts): Promise<Found> {
  let found: Found = { finding: { result: "skipped" } };
  for (const webhook of group) {
    const run = await facts.dryRun(webhook);
    if (!isKnown(run)) return { finding: cannotTell(run) };
    found = { webhook, run: run.value };
    if (run.value !== undefined) return found;
  }
  return found;
}

/** `message` is what is wrong; `doubt` is why nothing can be said. */
type Verdict = { readonly message: string | undefined } | { readonly doubt: string };

const CALL = /failed calling webhook "([^"]*)"/;

async function verdictOf(webhook: InjectorWebhook, run: DryRun, facts: Facts): Promise<Verdict> {
  if (run.outcome === "injected") return { message: undefined };
  if (run.outcome === "not-injected") return notInjected(webhook, run);
  const failed = CALL.exec(run.message)?.[1];
  if (failed === undefined) {
    return { doubt: `a pod is refused in the namespace "${run.namespace}": ${run.message}` };
  }
  if (failed !== webhook.name) return { doubt: `another webhook, "${failed}", cannot be called: ${run.message}` };
  const port = isCalled(webhook) ? await podPort(webhook.target, facts) : undefined;
  return { message: `${run.message}\n${adviceFor(run.message, port)}` };
}

/** With Fail the webhook has answered, and its configuration does not want this pod; with Ignore nobody may have. */
function notInjected({ failurePolicy, name, timeoutSeconds }: InjectorWebhook, run: DryRun): Verdict {
  if (failurePolicy === "Fail") return { message: undefined };
  const where = `a pod in the namespace "${run.namespace}" comes back without a sidecar`;
  if (run.took >= timeoutSeconds * 1000) {
    return {
      message: `${where} after ${timeoutSeconds} s, the time-out of "${name}"\n${adviceFor("timed out", undefined)}`,
    };
  }
  return {
    message: `${where}: "${name}" does not answer, which failurePolicy Ignore hides\nlook at its pods and their logs`,
  };
}
