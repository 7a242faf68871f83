/** Finds controllers whose pods the API server refuses. Refused pods appear in no list. */
import type { KubeObject } from "../../../kube/client/mod.ts";
import { newMap, textAt } from "../../../base/value.ts";
import { labelsOf } from "../../../inject/mod.ts";
import { look } from "../../advice/advice.ts";
import { explainInjection, refOf } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { lastEvent, replicaFailure, timeOf } from "../../injection/failed_create.ts";
import { objectTarget, podOf } from "../../injection/target.ts";
import { labelsByNamespace, labelsOfObject, sendsPod } from "../../inventory/injector_webhooks.ts";
import { isChosen } from "../../inventory/mod.ts";
import { type Facts, inEach, later } from "../../facts.ts";
import { findingOf, type Problem } from "../findings.ts";
import { quotaFor } from "../../policies/quota.ts";

/** Maximum age of an event. Controllers retry within 16 minutes, so an older event is about a solved problem. */
const RECENT = 20 * 60_000;

/** Reports controllers with refused pods. Deployments report these in their status, other controllers in events. */
export async function podsCreated(facts: Facts): Promise<Finding> {
  const [workloads, namespaces, injectors, events] = await Promise.all([
    facts.workloads(),
    facts.namespaces(),
    facts.injectors(),
    later(facts.failedCreations()),
  ]);
  const labels = labelsByNamespace(namespaces);
  const isMeant = (object: KubeObject) => {
    const target = objectTarget(object);
    if (target === undefined || !isChosen(labelsOfObject(object), facts.scope.selector)) return false;
    const pod = labelsOf(podOf(target));
    return injectors.some((each) => sendsPod(each, labels.get(target.namespace) ?? newMap(), pod));
  };
  const recent = facts.clock.now().getTime() - RECENT;
  if (facts.scope.selector !== undefined && !workloads.some(isMeant)) {
    return { result: "skipped", message: "no injected workload has the labels of --selector" };
  }
  const problems = await inEach(workloads.filter(isMeant), (object): readonly Problem[] => {
    const { kind, metadata: { namespace = "", name } } = object;
    const ofEvents = () => lastEvent(events().filter((each) => timeOf(each) > recent), { kind, namespace, name });
    const report = replicaFailure(object) ?? ofEvents();
    if (report === undefined) return [];
    const message = textAt(report, "message");
    const advice = [
      look("see whether the sidecar is the cause", explainInjection({ kind, namespace, name })),
      ...quotaFor(message, namespace),
    ];
    return [{
      object: refOf({ kind, namespace, name }),
      result: "error",
      message: `the API server refuses its pods: ${message}`,
      advice,
    }];
  }, "workload");
  return findingOf(problems);
}
