/** The category workloads: live pods compared with new ones, and conflicts between applications and their proxy. */
import type { KubeObject } from "../../core/kube/client/mod.ts";
import { findProxy } from "../../inject/mod.ts";
import type { Check, Finding } from "../check.ts";
import type { ExpectedPod } from "../inventory/expectations.ts";
import { type Facts, inAll, later } from "../facts.ts";
import { kubectl, makeNamedAgain } from "../injection/commands.ts";
import { misplacedRequests } from "../injection/misplaced.ts";
import { objectTarget, podOf } from "../injection/target.ts";
import { type Advice, findingOf, type Problem } from "./findings.ts";
import { appPorts, initNetwork, jobProxy, otherMesh, proxyUser } from "./workloads/application.ts";
import { hostNetwork, missingProxy, onWindows, otherProxy, unexpectedProxy } from "./workloads/expected.ts";
import { podsCreated } from "./workloads/created.ts";
import { ownerRef, type PodProblem } from "./workloads/pod_problem.ts";

/** `isByHand` tells whether the template of a workload has a proxy, written by `inject`. */
type Judge = (pod: ExpectedPod, isByHand: (workload: string) => boolean) => PodProblem | undefined;

interface Row {
  readonly id: string;
  readonly title: string;
  readonly judge: Judge;
  /** The judge asks which proxies are written in templates. */
  readonly readsTemplates?: true;
  readonly advice?: Advice;
}

const ROWS: readonly Row[] = [
  {
    id: "workload-proxy-missing",
    title: "pods that should have a proxy have one",
    judge: missingProxy,
    advice: makeNamedAgain,
  },
  {
    id: "workload-proxy-unexpected",
    title: "injected pods are injected again when recreated",
    judge: unexpectedProxy,
    readsTemplates: true,
    advice: ({ kind, namespace, name }) =>
      `see why: ${kubectl("mesh", "check", "injection", `${kind}/${name}`, "-n", namespace)}`,
  },
  {
    id: "workload-proxy-current",
    title: "proxies match the current configuration",
    judge: otherProxy,
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
    run: (facts) => ofPods(facts, row),
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
async function ofPods(facts: Facts, { judge, advice, readsTemplates }: Row): Promise<Finding> {
  const pods = await facts.expectations();
  const byHand = await later(readsTemplates === undefined ? NONE : facts.workloads().then(injectedByHand));
  const isByHand = (workload: string) => byHand().has(workload);
  const found = inAll(pods, (pod) => {
    const problem = judge(pod, isByHand);
    return problem === undefined ? [] : [{ object: ownerRef(pod), ...problem }];
  }, "pod");
  const groups = Map.groupBy(found, ({ object, message }) => `${object} ${message}`);
  const problems = [...groups.values()].flatMap(([problem, ...more]) => {
    if (problem === undefined || more.length === 0) return problem ?? [];
    return { ...problem, message: `${problem.message} (${more.length + 1} pods)` };
  });
  return findingOf(problems, advice);
}

const NONE: Promise<ReadonlySet<string>> = Promise.resolve(new Set());

function injectedByHand(workloads: readonly KubeObject[]): ReadonlySet<string> {
  return new Set(
    workloads.flatMap((object) => {
      const target = objectTarget(object);
      if (target === undefined || findProxy(podOf(target)) === undefined) return [];
      return [`${target.row.kind.toLowerCase()}/${target.namespace}/${target.name}`];
    }),
  );
}

async function labelPlaces(facts: Facts): Promise<Finding> {
  const problems = (await facts.workloads()).flatMap((object): readonly Problem[] => {
    const target = objectTarget(object);
    if (target === undefined) return [];
    const name = `${target.row.kind.toLowerCase()}/${target.namespace}/${target.name}`;
    return misplacedRequests(target).map(({ message, fix: [fix = ""] }) => {
      return { object: name, result: "warning", message: `${message}: ${fix}` };
    });
  });
  return findingOf(problems);
}
