/** Controllers whose pods the API server refuses: pods that do not exist are in no list. */
import type { KubeObject } from "../../../kube/client/mod.ts";
import { isMap, mapAt, mapsAt, newMap, textAt } from "../../../base/value.ts";
import { labelsOf } from "../../../inject/mod.ts";
import { look } from "../../advice/advice.ts";
import { explainInjection } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { objectTarget, podOf } from "../../injection/target.ts";
import { injectorWebhooks, labelsOfObject, namespaceLabels, sendsPod } from "../../inventory/injector_webhooks.ts";
import { isChosen } from "../../inventory/mod.ts";
import { type Facts, inAll, later } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { quotaFor } from "../../policies/quota.ts";

/** Controllers try again after at most 16 minutes: an older event is of a problem that is over. */
const RECENT = 20 * 60_000;

/**
 * Controllers whose template matches an injection webhook, and whose pods are refused: Deployments say so in their
 * status, the others in events (`FailedCreate`).
 */
export async function podsCreated(facts: Facts): Promise<Finding> {
  const [workloads, namespaces, webhooks, events] = await Promise.all([
    facts.workloads(),
    facts.namespaces(),
    facts.mutatingWebhooks(),
    later(facts.failedCreations()),
  ]);
  const injectors = injectorWebhooks(webhooks);
  const labels = new Map(namespaces.map(({ metadata }) => {
    return [metadata.name, namespaceLabels(metadata.name, metadata["labels"])] as const;
  }));
  const isMeant = (object: KubeObject) => {
    const target = objectTarget(object);
    if (target === undefined || !isChosen(labelsOfObject(object), facts.scope.selector)) return false;
    const pod = labelsOf(podOf(target));
    return injectors.some((each) => sendsPod(each, labels.get(target.namespace) ?? newMap(), pod));
  };
  const recent = facts.clock.now().getTime() - RECENT;
  if (facts.scope.selector !== undefined && !workloads.some(isMeant)) {
    return { result: "skipped", message: "no workload that is injected has the labels of --selector" };
  }
  const problems = inAll(workloads.filter(isMeant), (object): readonly Problem[] => {
    const message = ofStatus(object) ?? ofEvents(object, events().filter((event) => timeOf(event) > recent));
    if (message === undefined) return [];
    const { kind, metadata: { namespace = "", name } } = object;
    const advice = [
      look("see whether the sidecar is the cause", explainInjection({ kind, namespace, name })),
      ...quotaFor(message, namespace),
    ];
    return [{ object: refOf(object), result: "error", message: `its pods are refused: ${message}`, advice }];
  }, "workload");
  return findingOf(problems);
}

function refOf({ kind, metadata: { namespace = "", name } }: KubeObject): string {
  return `${kind.toLowerCase()}/${namespace}/${name}`;
}

function ofStatus(object: KubeObject): string | undefined {
  const failure = mapsAt(mapAt(object, "status"), "conditions").find(({ type, status }) => {
    return type === "ReplicaFailure" && status === "True";
  });
  return failure === undefined ? undefined : textAt(failure, "message");
}

/** The last one. */
function ofEvents({ kind, metadata }: KubeObject, events: readonly KubeObject[]): string | undefined {
  const own = events.filter((event) => {
    const of = mapAt(event, "involvedObject");
    return of["kind"] === kind && of["name"] === metadata.name && of["namespace"] === metadata.namespace;
  });
  const last = own.toSorted((a, b) => timeOf(b) - timeOf(a))[0];
  return last === undefined ? undefined : textAt(last, "message");
}

function timeOf(event: KubeObject): number {
  const { lastTimestamp, eventTime, series } = event;
  const observed = isMap(series) ? series["lastObservedTime"] : undefined;
  const times = [observed, lastTimestamp, eventTime].filter((time) => typeof time === "string");
  return Math.max(0, ...times.map((time) => Date.parse(time)).filter((time) => !Number.isNaN(time)));
}
