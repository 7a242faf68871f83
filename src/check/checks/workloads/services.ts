/** Applies the rules of `inject` to Services of mesh pods in the cluster. */
import { containersOf, InputFacts, type InputFinding, inputFindings, PROXY, rulesOffBy } from "../../../inject/mod.ts";
import type { KubeObject, Service } from "../../../kube/client/mod.ts";
import { harmless } from "../../advice/advice.ts";
import { edit, refOf } from "../../advice/commands.ts";
import type { Finding } from "../../check.ts";
import { type Facts, inEach } from "../../facts.ts";
import type { ExpectedPod } from "../../inventory/expectations.ts";
import { findingOf, NO_POD, ofField, type Problem } from "../findings.ts";
import { isInMesh } from "./application.ts";

/**
 * Reports Services of mesh pods that do not name a protocol, or name different protocols for a port. If the user may
 * not read webhooks, it is unknown whether pods without a proxy belong to the mesh. In this case, the check reports
 * problems of pods with a proxy, and passes only if pods without a proxy cannot have a problem.
 */
export async function serviceProtocols(facts: Facts): Promise<Finding> {
  const pods = (await facts.expectations()).filter((each) => !isGateway(each));
  if (pods.length === 0 && facts.scope.selector !== undefined) return NO_POD;
  const services = pods.length === 0 ? [] : await facts.services();
  if (problemsOf(services, pods).length === 0) return findingOf([]);
  const found = problemsOf(services, await inEach(pods, (each) => isInMesh(each) ? [each] : [], "pod"));
  return findingOf(found.some(({ result }) => result !== "note") ? found : problemsOf(services, pods.filter(isInMesh)));
}

/** Whether the pod is a gateway. Gateway resources, not Services, name the protocols of its ports. */
function isGateway({ pod }: ExpectedPod): boolean {
  return containersOf(pod, "containers").every(({ name }) => name === PROXY);
}

function problemsOf(services: readonly Service[], pods: readonly ExpectedPod[]): readonly Problem[] {
  const facts = new InputFacts();
  for (const service of services) facts.add(inputOf(service));
  for (const { pod } of pods) facts.add({ ...inputOf(pod), injected: { pod, path: [] } });
  return inputFindings(facts, new Set()).map(problemOf);
}

function inputOf(object: KubeObject) {
  const { apiVersion, kind, metadata: { name, namespace = "" } } = object;
  const described = { file: "", document: 0, apiVersion, kind, name, namespace };
  return { described, manifest: object, off: rulesOffBy(object), lineOf: () => undefined };
}

function problemOf(found: InputFinding): Problem {
  const { described, fix, severity } = found;
  return {
    object: refOf(described),
    result: severity,
    message: ofField(found),
    advice: [harmless(fix, "workload", edit(described))],
  };
}
