/**
 * Checks how the API server reaches the pods of Services: at their addresses (`--enable-aggregator-routing`), or at the
 * cluster IP, which needs kube-proxy on the API server's node (Kubernetes, "Configure the Aggregation Layer").
 */
import type { Pod } from "../../../kube/client/mod.ts";
import { parseBool } from "../../../golang/go_bool.ts";
import { byHand } from "../../advice/advice.ts";
import type { Finding } from "../../check.ts";
import type { DryRun } from "../../inventory/dry_run.ts";
import type { InjectorWebhook } from "../../inventory/injector_webhooks.ts";
import { type Facts, firstKnown, inEach } from "../../facts.ts";
import { flagsOf } from "./admission.ts";
import { fixesBy } from "../findings.ts";
import { NO_ANSWER } from "../webhook/failures.ts";
import { type Called, isCalled, nameOf } from "../webhook/service.ts";

const FLAG = "--enable-aggregator-routing";

/** Looks for evidence in the pods of kube-apiserver first, then in responses of Services to the API server. */
export async function aggregatorRouting(facts: Facts): Promise<Finding> {
  const found = await firstKnown<Finding | undefined>([
    () => ofServers(facts),
    async () => reachedIn(await ofWebhooks(facts)),
    async () => reachedIn(await ofApiServices(facts)),
    () => ofStranded(facts),
  ]);
  return found ?? NOT_SHOWN;
}

async function ofServers(facts: Facts): Promise<Finding | undefined> {
  const servers = await facts.apiServerPods();
  if (servers.length === 0) return undefined;
  if (servers.every(isRouted)) return { result: "ok", message: FLAG };
  const stranded = await withoutProxy(servers, facts);
  return stranded.length === 0 ? { result: "ok", message: "through kube-proxy on its node" } : undefined;
}

function reachedIn(evidence: readonly Evidence[]): Finding | undefined {
  const found = evidence.find((each) => "reached" in each);
  return found === undefined ? undefined : { result: "ok", message: `it reaches ${found.reached}` };
}

/** Reports API servers that cannot route to Services. A failed call alone does not prove this. */
async function ofStranded(facts: Facts): Promise<Finding | undefined> {
  const stranded = await withoutProxy(await facts.apiServerPods(), facts);
  if (stranded.length === 0) return undefined;
  const failed = await firstKnown([
    async () => failureIn(await ofWebhooks(facts)),
    async () => failureIn(await ofApiServices(facts)),
    () => "",
  ]);
  const objects = stranded.map(({ metadata }) => `pod/kube-system/${metadata.name}`);
  const state = `${objects[0]} runs without ${FLAG}, and no kube-proxy is on its node`;
  // An unrecognized replacement for kube-proxy may route the calls.
  if (!failed) {
    const message = `cannot tell: ${state}, so it reaches Services only if another component routes their addresses`;
    return { result: "unknown", message };
  }
  return {
    result: "error",
    message: `${state}: ${failed}`,
    objects,
    fixes: fixesBy(
      byHand(`set ${FLAG}=true in its manifest, so that it calls the pods of a Service directly`),
      byHand("run kube-proxy, or a replacement, on the API server's node"),
    ),
  };
}

function failureIn(evidence: readonly Evidence[]): string | undefined {
  return evidence.find((each) => "failed" in each)?.failed;
}

const NOT_SHOWN: Finding = {
  result: "unknown",
  message: "cannot tell: the kube-apiserver pods are not visible, as on managed clusters, and " +
    "no Service is known to have responded to the API server",
};

/** Whether aggregator routing is enabled. The last occurrence of the flag counts. */
function isRouted(pod: Pod): boolean {
  const last = flagsOf(pod).findLast((flag) => flag === FLAG || flag.startsWith(`${FLAG}=`));
  return last !== undefined && parseBool(last.slice(FLAG.length + 1) || "true") === true;
}

async function withoutProxy(servers: readonly Pod[], facts: Facts): Promise<readonly Pod[]> {
  const byAddress = servers.filter((pod) => !isRouted(pod));
  if (byAddress.length === 0) return [];
  const nodes = new Set((await facts.kubeProxyPods()).map(nodeOf));
  return byAddress.filter((pod) => nodeOf(pod) === "" || !nodes.has(nodeOf(pod)));
}

function nodeOf({ spec }: Pod): string {
  return spec?.nodeName ?? "";
}

/** A Service that responded to the API server, or the message of a failed call. */
type Evidence = { readonly reached: string } | { readonly failed: string };

async function ofWebhooks(facts: Facts): Promise<readonly Evidence[]> {
  const webhooks = await facts.injectors();
  return await inEach(webhooks.filter(isCalled), async (webhook) => {
    const run = await facts.dryRun(webhook);
    return run === undefined ? [] : ofDryRun(webhook, run, webhooks);
  });
}

/** A sidecar in the dry run proves that a Service was reached only if all injection webhooks use Services. */
function ofDryRun(webhook: Called, run: DryRun, all: readonly InjectorWebhook[]): readonly Evidence[] {
  if (run.outcome === "injected") return all.every(isCalled) ? [reached(nameOf(webhook.target))] : [];
  if (run.webhook !== webhook.name) return [];
  if (run.outcome === "denied") return [reached(nameOf(webhook.target))];
  return isUnreached(run.message) ? [{ failed: run.message }] : [];
}

function reached(service: string): Evidence {
  return { reached: `the Service "${service}"` };
}

const NO_ROUTE = /no route to host|network is unreachable/i;

function isUnreached(message: string): boolean {
  return NO_ANSWER.test(message) || NO_ROUTE.test(message);
}

/** Returns evidence from aggregated APIs, such as metrics-server. The API server calls their Services like webhooks. */
async function ofApiServices(facts: Facts): Promise<readonly Evidence[]> {
  return (await facts.apiServices()).flatMap(({ spec, status }): Evidence[] => {
    const { name, namespace } = spec?.service ?? {};
    const available = status?.conditions?.find(({ type }) => type === "Available");
    if (name === undefined || available === undefined) return [];
    if (available.status === "True") return [reached(`${namespace}/${name}`)];
    const message = available.message ?? "";
    return isUnreached(message) ? [{ failed: message }] : [];
  });
}
