/** The category workloads: live pods compared with new ones, and conflicts between applications and their proxy. */
import { findProxy } from "../../inject/mod.ts";
import type { Check, Finding } from "../check.ts";
import type { ExpectedPod } from "../inventory/expectations.ts";
import { type Inventory, isKnown, reason } from "../inventory/mod.ts";
import { kubectl, makeNamedAgain } from "../injection/commands.ts";
import { misplacedRequests } from "../injection/misplaced.ts";
import { objectTarget, podOf } from "../injection/target.ts";
import { type Advice, cannotTell, counted, findingOf, type Problem } from "./findings.ts";
import { appPorts, initNetwork, jobProxy, otherMesh, proxyUser } from "./workloads/application.ts";
import { hostNetwork, missingProxy, onWindows, otherProxy, unexpectedProxy } from "./workloads/expected.ts";
import { podsCreated } from "./workloads/created.ts";
import { ownerRef, type PodProblem } from "./workloads/pod_problem.ts";

type Judge = (pod: ExpectedPod, isByHand: boolean) => PodProblem | undefined;

interface Row {
  readonly id: string;
  readonly title: string;
  readonly judge: Judge;
  readonly advice?: Advice;
  /** The pods with an unknown result while the decision of their webhook is unknown. */
  readonly undecided?: (pod: ExpectedPod) => boolean;
}

const ROWS: readonly Row[] = [
  {
    id: "workload-proxy-missing",
    title: "pods that should have a proxy have one",
    judge: missingProxy,
    undecided: (pod) => isUndecided(pod) && !pod.hasProxy,
    advice: makeNamedAgain,
  },
  {
    id: "workload-proxy-unexpected",
    title: "injected pods are injected again when recreated",
    judge: unexpectedProxy,
    undecided: (pod) => isUndecided(pod) && pod.hasProxy,
    advice: ({ kind, namespace, name }) =>
      `see why: ${kubectl("mesh", "check", "injection", `${kind}/${name}`, "-n", namespace)}`,
  },
  {
    id: "workload-proxy-current",
    title: "proxies match the current configuration",
    judge: otherProxy,
    undecided: (pod) => isUndecided(pod) && pod.hasProxy,
    advice: makeNamedAgain,
  },
  {
    id: "workload-host-network",
    title: "mesh pods do not use the host network",
    judge: hostNetwork,
  },
  {
    id: "workload-windows",
    title: "no Windows pod is injected",
    judge: onWindows,
    advice: "set the label sidecar.istio.io/inject to false on its pod template",
  },
  {
    id: "workload-other-mesh",
    title: "no injected pod has the sidecar of another mesh",
    judge: otherMesh,
    advice: "turn off the injection of one mesh for the namespace or the pod template",
  },
  {
    id: "workload-init-network",
    title: "init containers have network access",
    judge: initNetwork,
    advice: "use native sidecars, or run them as user 1337: its traffic is not captured",
  },
  {
    id: "workload-jobs",
    title: "Job proxies end with the Job",
    judge: jobProxy,
    advice: "use native sidecars, or put `kubectl-mesh wait --shutdown --` in front of the command",
  },
  {
    id: "workload-proxy-user",
    title: "no application runs as the proxy user",
    judge: proxyUser,
    advice: "set another runAsUser: traffic of the proxy user is not captured",
  },
  {
    id: "workload-ports",
    title: "no application uses a proxy port",
    judge: appPorts,
    advice: "give the application another port",
  },
];

export const WORKLOAD_CHECKS: readonly Check[] = [
  ...ROWS.map((row): Check => ({
    id: row.id,
    category: "workloads",
    title: row.title,
    needs: [],
    run: (inventory) => ofPods(inventory, row),
  })),
  {
    id: "workload-pods-created",
    category: "workloads",
    title: "controllers can create their injected pods",
    needs: [],
    run: podsCreated,
  },
  {
    id: "workload-label-place",
    category: "workloads",
    title: "injection labels are on pod templates",
    needs: [],
    run: labelPlaces,
  },
];

/** Problems are grouped by workload, with a count of pods (linkerd2 #6272). */
async function ofPods(inventory: Inventory, { judge, advice, undecided = () => false }: Row): Promise<Finding> {
  const pods = await inventory.expectations();
  if (!isKnown(pods)) return cannotTell(pods);
  const byHand = await injectedByHand(inventory);
  const found = new Map<string, { readonly problem: Problem; count: number }>();
  for (const pod of pods.value) {
    const object = ownerRef(pod);
    const problem = judge(pod, byHand.has(object));
    if (problem === undefined) continue;
    const key = `${object} ${problem.message}`;
    const before = found.get(key);
    if (before === undefined) found.set(key, { problem: { object, ...problem }, count: 1 });
    else before.count++;
  }
  const problems = [...found.values()].map(({ problem, count }) => {
    return count === 1 ? problem : { ...problem, message: `${problem.message} (${count} pods)` };
  });
  const unclear = problems.length > 0 ? [] : pods.value.filter(undecided);
  const [first] = unclear;
  return first === undefined ? findingOf(problems, advice) : notDecided(first, unclear.length);
}

/** The webhook is called for the pod, but its decision is unknown. */
function isUndecided({ webhook, decision }: ExpectedPod): boolean {
  return webhook !== undefined && decision === undefined;
}

/** `ok` would be a guess. */
function notDecided({ owner, webhook, plane }: ExpectedPod, count: number): Finding {
  const of = `cannot tell for ${counted(count, "pod")}`;
  if (plane !== undefined && !isKnown(plane.injector)) {
    return { result: "unknown", message: `${of}: ${reason(plane.injector)}` };
  }
  const why = kubectl("mesh", "check", "injection", `${owner.kind.toLowerCase()}/${owner.name}`, "-n", owner.namespace);
  return { result: "unknown", message: `${of}: "${webhook?.name}" has matchConditions: see ${why}` };
}

/** Workloads whose template has a proxy, written by `inject`; none if listing is forbidden. */
async function injectedByHand(inventory: Inventory): Promise<ReadonlySet<string>> {
  const workloads = await inventory.workloads();
  const objects = isKnown(workloads) ? workloads.value : [];
  return new Set(
    objects.flatMap((object) => {
      const target = objectTarget(object);
      if (target === undefined || findProxy(podOf(target)) === undefined) return [];
      return [`${target.row.kind.toLowerCase()}/${target.namespace}/${target.name}`];
    }),
  );
}

async function labelPlaces(inventory: Inventory): Promise<Finding> {
  const workloads = await inventory.workloads();
  if (!isKnown(workloads)) return cannotTell(workloads);
  const problems = workloads.value.flatMap((object): readonly Problem[] => {
    const target = objectTarget(object);
    if (target === undefined) return [];
    const name = `${target.row.kind.toLowerCase()}/${target.namespace}/${target.name}`;
    return misplacedRequests(target).map(({ message, fix: [fix = ""] }) => {
      return { object: name, result: "warning", message: `${message}: ${fix}` };
    });
  });
  return findingOf(problems);
}
