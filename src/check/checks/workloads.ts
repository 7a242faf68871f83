/** The category workloads: live pods against new pods, and applications in conflict with their proxy. */
import type { CheckRow, Finding } from "../check.ts";
import type { ExpectedPod } from "../inventory/expectations.ts";
import { type Facts, inEach, later } from "../facts.ts";
import { ANNOTATION } from "../../istio/annotations/names.ts";
import { type Advice, byHand, look } from "../advice/advice.ts";
import { explainInjection, type Named, refOf } from "../advice/commands.ts";
import { annotatedPod, editedPod, namedOf, optedOut, recreated } from "../injection/workload_advice.ts";
import { misplacedRequests } from "../injection/misplaced.ts";
import { ownProxies } from "../injection/own_proxy.ts";
import { objectTarget, type Target } from "../injection/target.ts";
import { findingOf, NO_POD, type Problem, type ProblemOf } from "./findings.ts";
import { appPorts, initNetwork, jobProxy, proxyUser } from "./workloads/application.ts";
import { metadataProblems } from "./workloads/metadata.ts";
import { serviceProtocols } from "./workloads/services.ts";
import { otherMesh } from "./workloads/other_mesh.ts";
import { haveNativeSidecars } from "./security/native_sidecars.ts";
import { hostNetwork, missingProxy, onWindows, otherProxy, unexpectedProxy } from "./workloads/expected.ts";
import { podsCreated } from "./workloads/created.ts";
import { isChosen } from "../inventory/mod.ts";
import { labelsOfObject } from "../inventory/injector_webhooks.ts";

/** Judges a pod. `isByHand` returns whether the manifest of its workload contains a proxy. */
type Judge = (pod: ExpectedPod, isByHand: (pod: ExpectedPod) => boolean) => ProblemOf | undefined;

interface Row extends Omit<CheckRow, "run"> {
  readonly judge: Judge;
  /** The judge needs the templates of workloads. */
  readonly readsTemplates?: true;
  readonly advice?: (object: Named, hasNativeSidecars: boolean) => readonly Advice[];
}

const ROWS: readonly Row[] = [
  {
    id: "workload-proxy-missing",
    title: "every pod that should have a proxy has a proxy",
    judge: missingProxy,
    advice: (object) => [recreated(object)],
  },
  {
    id: "workload-proxy-unexpected",
    title: "injected pods are injected again when they are recreated",
    judge: unexpectedProxy,
    readsTemplates: true,
    advice: (object) => [look("see the reason, and how to change it", explainInjection(object))],
  },
  {
    id: "workload-proxy-current",
    title: "proxies match the current configuration",
    judge: otherProxy,
    advice: (object) => [recreated(object)],
  },
  {
    id: "workload-host-network",
    title: "mesh pods do not use the host network",
    judge: hostNetwork,
    advice: (object) => [
      optedOut(object, "opt the pod out of the mesh explicitly", "none"),
      byHand("remove hostNetwork from its pod template", "workload"),
    ],
  },
  {
    id: "workload-windows",
    title: "no Windows pod is injected",
    judge: onWindows,
    advice: (object) => [optedOut(object, "keep it out of the mesh", "takes-out")],
  },
  { id: "workload-other-mesh", title: "no injected pod has the sidecar of another mesh", judge: otherMesh },
  {
    id: "workload-init-network",
    title: "init containers have network access",
    judge: initNetwork,
    advice: (object, hasNativeSidecars) => [
      nativeSidecar(object, hasNativeSidecars),
      byHand("run the init containers as user 1337, whose traffic is not captured", "workload"),
    ],
  },
  {
    id: "workload-jobs",
    title: "Job proxies exit with the Job",
    judge: jobProxy,
    advice: (object, hasNativeSidecars) => [
      nativeSidecar(object, hasNativeSidecars),
      byHand('put "kubectl-mesh wait --shutdown --" in front of the command', "workload"),
    ],
  },
  {
    id: "workload-proxy-user",
    title: "no application runs as the proxy user",
    judge: proxyUser,
    advice: (object) => [
      editedPod(
        object,
        (pod) => `set another runAsUser in ${pod}.securityContext, or in the securityContext of the container`,
      ),
    ],
  },
  {
    id: "workload-ports",
    title: "no application uses a proxy port",
    judge: appPorts,
    advice: (object) => [
      editedPod(object, (pod) => `give the application another port, and declare this port in ${pod}.containers`),
    ],
  },
];

/** Advice to use a native sidecar. Has no command if a node is too old: its kubelet would wait for the sidecar to exit. */
function nativeSidecar(object: Named, hasNativeSidecars: boolean): Advice {
  const change = "run the proxy as a native sidecar";
  const advice = annotatedPod(object, change, { [ANNOTATION.nativeSidecar]: "true" });
  return hasNativeSidecars
    ? advice
    : byHand(`${change}, which requires Kubernetes 1.29 or later on all nodes`, "workload");
}

export const WORKLOAD_CHECKS: readonly CheckRow[] = [
  ...ROWS.map(({ id, title, ...row }): CheckRow => ({ id, title, run: (facts) => ofPods(facts, row) })),
  { id: "workload-pods-created", title: "controllers can create their injected pods", run: podsCreated },
  {
    id: "workload-label-place",
    title: "injection labels are on pod templates",
    run: (facts) => ofWorkloads(facts, labelPlaces),
  },
  {
    id: "workload-annotations",
    title: "Istio's annotations and labels are known and on pod templates",
    run: (facts) => ofWorkloads(facts, metadataProblems),
  },
  {
    id: "workload-services",
    title: "Services of mesh pods name consistent protocols",
    run: serviceProtocols,
  },
];

/** Judges all pods. Reports one problem for each workload, with the number of affected pods (linkerd2 #6272). */
async function ofPods(facts: Facts, { judge, advice, readsTemplates }: Omit<Row, "id" | "title">): Promise<Finding> {
  const pods = await facts.expectations();
  if (pods.length === 0 && facts.scope.selector !== undefined) return NO_POD;
  const byHand = await later(readsTemplates === undefined ? NONE : facts.workloads().then(ownProxies));
  const isByHand = (pod: ExpectedPod) => byHand()(pod);
  const found = await inEach(pods, (pod) => {
    const problem = judge(pod, isByHand);
    return problem === undefined ? [] : [{ object: refOf(pod.owner), ...problem }];
  }, "pod");
  const groups = Map.groupBy(found, ({ object, message }) => `${object} ${message}`);
  const problems = [...groups.values()].flatMap(([problem, ...more]) => {
    if (problem === undefined || more.length === 0) return problem ?? [];
    return { ...problem, message: `${problem.message} (${more.length + 1} pods)` };
  });
  const canBeNative = problems.length > 0 && await haveNativeSidecars(facts);
  return findingOf(problems, (object) => advice?.(object, canBeNative) ?? []);
}

const NO_WORKLOAD: Finding = { result: "skipped", message: "no workload has the labels of --selector" };

const NONE = Promise.resolve(ownProxies([]));

async function ofWorkloads(facts: Facts, judge: (target: Target) => readonly ProblemOf[]): Promise<Finding> {
  const { selector } = facts.scope;
  const workloads = (await facts.workloads()).filter((each) => isChosen(labelsOfObject(each), selector));
  if (workloads.length === 0 && selector !== undefined) return NO_WORKLOAD;
  const problems = workloads.flatMap((workload): readonly Problem[] => {
    const target = objectTarget(workload);
    if (target === undefined) return [];
    const object = refOf(namedOf(target));
    return judge(target).map((problem) => ({ object, ...problem }));
  });
  return findingOf(problems);
}

function labelPlaces(target: Target): readonly ProblemOf[] {
  return misplacedRequests(target).map(({ message, advice }) => ({ result: "warning", message, advice }));
}
