/** The security category: checks for cluster policies that may deny injected pods. */
import type { LimitRange, Namespace, Pod, ResourceQuota } from "../../kube/client/mod.ts";
import { mapAt, type ValueMap } from "../../base/value.ts";
import { type Advice, byHand, loosening } from "../advice/advice.ts";
import { edit, labelNamespace, type Named } from "../advice/commands.ts";
import type { CheckRow, Finding } from "../check.ts";
import { type Facts, firstKnown, forAdvice, inEach, later } from "../facts.ts";
import type { SidecarNamespace } from "../inventory/sidecars.ts";
import { type AdviceFor, findingOf, type Problem } from "./findings.ts";
import { NONE_INJECTED } from "./namespace_control_plane.ts";
import { nativeSidecars } from "./security/native_sidecars.ts";
import { rangeObstacles } from "../policies/limit_range.ts";
import { demandOf, ENFORCE, levelOf } from "../policies/obstacles.ts";
import { hasRange, outsideRange, rangeAdvice } from "./security/scc_ranges.ts";
import { podAdmission } from "./security/pod_admission.ts";
import { type Amounts, amountsOf, podAmounts } from "../policies/pod_resources.ts";
import { findProxy, violationsOf } from "../../inject/mod.ts";
import { isAlive } from "../inventory/live_pods.ts";
import { dependsOnDefaults, quotaObstacles, raisedQuota } from "../policies/quota.ts";

export const SECURITY_CHECKS: readonly CheckRow[] = [
  {
    id: "pod-security",
    title: "Pod Security admits injected pods",
    pre: true,
    run: (facts) => {
      const judged = async () => judge(await facts.sidecars(), podSecurity, ADVICE_POD_SECURITY);
      return unlessOpen(judged, async () => !(await facts.namespaces()).some((each) => enforcedIn(each) !== undefined));
    },
  },
  {
    id: "resource-quota",
    title: "resource quotas admit sidecars",
    pre: true,
    run: (facts) => unlessOpen(() => quotas(facts), async () => (await facts.resourceQuotas()).length === 0),
  },
  {
    id: "limit-range",
    title: "limit ranges admit sidecars",
    pre: true,
    run: (facts) => unlessOpen(() => ranges(facts), async () => (await facts.limitRanges()).length === 0),
  },
  {
    id: "scc-ranges",
    title: "sidecars run as users in OpenShift's ranges",
    pre: true,
    run: (facts) => {
      const judged = async () => judge(await facts.sidecars(), sccRanges);
      return unlessOpen(judged, async () => !(await facts.namespaces()).some(hasRange));
    },
  },
  { id: "pod-admission", title: "the API server admits injected pods in each namespace", run: podAdmission },
  { id: "native-sidecars", title: "nodes support native sidecars", pre: true, run: nativeSidecars },
];

/** Advice for Pod Security. The label in the second item lets the namespace admit any pod. */
const ADVICE_POD_SECURITY = ({ name }: Named): readonly Advice[] => [
  byHand("let the CNI plugin capture traffic (pilot.cni.enabled, or inject --cni)", "mesh"),
  loosening(
    "let the namespace admit privileged pods",
    "namespace",
    labelNamespace(name, { [ENFORCE]: "privileged" }, { [ENFORCE]: "" }),
  ),
];

const LOWER = byHand(
  "lower the sidecar's resources with annotations of the pod template: sidecar.istio.io/proxyCPU, proxyMemory, " +
    "proxyCPULimit, proxyMemoryLimit",
  "workload",
);

/** Returns the finding. If the finding is unknown, for example without rights, returns `ok` if no policy exists. */
async function unlessOpen(judged: () => Promise<Finding>, isOpen: () => Promise<boolean>): Promise<Finding> {
  const open = async (): Promise<Finding | undefined> => await isOpen() ? { result: "ok" } : undefined;
  return await firstKnown([judged, open]) ?? await judged();
}

function enforcedIn({ metadata: { labels } }: Namespace) {
  return levelOf(labels?.[ENFORCE]);
}

type Judge = (namespace: SidecarNamespace) => readonly Problem[] | Promise<readonly Problem[]>;

async function judge(sidecars: readonly SidecarNamespace[], ofEach: Judge, advice?: AdviceFor): Promise<Finding> {
  return sidecars.length === 0 ? NONE_INJECTED : findingOf(await inEach(sidecars, ofEach), advice);
}

/** Reports a warning, because another SCC may admit the pod. The check "pod-admission" tests that with a dry run. */
function sccRanges(namespace: SidecarNamespace): readonly Problem[] {
  const message = outsideRange(namespace);
  return message === undefined ? [] : [{ ...problem(namespace, "warning", message), advice: rangeAdvice(namespace) }];
}

/** Returns the problem of a namespace. Before the mesh is installed, every problem is only a warning. */
function problem({ name, plane }: SidecarNamespace, result: Problem["result"], message: string): Problem {
  return { object: `namespace/${name}`, result: plane === undefined ? "warning" : result, message };
}

function podSecurity(namespace: SidecarNamespace): readonly Problem[] {
  const level = enforcedIn(namespace.namespace);
  if (level === undefined) return [];
  const strict = violationsOf(namespace.sidecar, level);
  const lenient = violationsOf(withPodSettings(namespace.sidecar), level);
  if (lenient.length > 0) return [problem(namespace, "error", `enforces ${level}, and ${lenient.join("; ")}`)];
  if (strict.length === 0) return [];
  const message = `enforces ${level}, and ${strict.join("; ")}: pods must set this in their securityContext`;
  return [problem(namespace, "warning", message)];
}

/** Adds the pod-level settings that the restricted level requires. */
function withPodSettings(pod: ValueMap): ValueMap {
  const securityContext = { runAsNonRoot: true, seccompProfile: { type: "RuntimeDefault" } };
  return { ...pod, spec: { ...mapAt(pod, "spec"), securityContext } };
}

const SET = byHand("set global.proxy.resources and global.proxy_init.resources in the injector's values", "mesh");

/** Reads LimitRanges only if a quota counts a resource that the sidecar does not set. Reads pods only for advice. */
async function quotas(facts: Facts): Promise<Finding> {
  const [quotas, ranges] = await Promise.all([facts.resourceQuotas(), later(facts.limitRanges())]);
  const sidecars = await facts.sidecars();
  const judged = (pods: readonly Pod[]) =>
    judge(sidecars, (namespace) => {
      const own = largestIn(pods, namespace);
      return inEach(inNamespace(quotas, namespace), (quota) => quotaProblems(quota, namespace, ranges, own));
    });
  const finding = await judged([]);
  return finding.fixes === undefined ? finding : await judged(await forAdvice(facts.pods()) ?? []);
}

function quotaProblems(
  quota: ResourceQuota,
  namespace: SidecarNamespace,
  ranges: () => readonly LimitRange[],
  own: Amounts,
): readonly Problem[] {
  const plain = demandOf(namespace.sidecar, []);
  const isPlain = !dependsOnDefaults(quota, plain);
  const demand = isPlain ? plain : demandOf(namespace.sidecar, inNamespace(ranges(), namespace));
  const found = quotaObstacles(quota, demand, own);
  const raises = found.flatMap(({ raise }) => raise ?? []);
  const named = { namespace: namespace.name, name: quota.metadata.name };
  return found.map(({ never, message, raise }): Problem => ({
    ...problem(namespace, never ? "error" : "warning", `the quota "${quota.metadata.name}" ${message}`),
    advice: raise === undefined ? [SET] : [LOWER, raisedQuota(named, raises, "one pod with its sidecar")],
  }));
}

/** Returns, for each resource, the largest request of any live pod in the namespace, not counting its sidecar. */
function largestIn(pods: readonly Pod[], { name }: SidecarNamespace): Amounts {
  const most = new Map<string, bigint>();
  for (const pod of pods.filter(({ metadata }) => metadata.namespace === name).filter(isAlive)) {
    const proxy = findProxy(pod);
    const own = podAmounts(pod, (container) => container === proxy ? new Map() : amountsOf(container));
    for (const [key, amount] of own) if (amount > (most.get(key) ?? 0n)) most.set(key, amount);
  }
  return most;
}

async function ranges({ limitRanges, sidecars }: Facts): Promise<Finding> {
  const ranges = await limitRanges();
  return judge(await sidecars(), (namespace) => {
    const own = inNamespace(ranges, namespace);
    const demand = demandOf(namespace.sidecar, own);
    return own.flatMap((range) => {
      const { name } = range.metadata;
      const change = edit({ kind: "limitrange", namespace: namespace.name, name });
      return rangeObstacles([range], demand).map((message): Problem => ({
        ...problem(namespace, "error", `the limit range "${name}" ${message}`),
        advice: [LOWER, loosening("change the limit range", "namespace", change)],
      }));
    });
  });
}

function inNamespace<T extends ResourceQuota | LimitRange>(list: readonly T[], { name }: SidecarNamespace): T[] {
  return list.filter(({ metadata }) => metadata.namespace === name);
}
