/** The category data-plane: checks pods with a proxy, based on the status that the kubelet reports. */
import { EXIT } from "../../base/errors.ts";
import type { Pod } from "../../kube/client/mod.ts";
import { mapAt, textAt } from "../../base/value.ts";
import { PROXY } from "../../inject/mod.ts";
import type { CheckRow, Finding } from "../check.ts";
import type { Facts } from "../facts.ts";
import { atOnce } from "../../base/at_once.ts";
import { type Advice, byHand, look } from "../advice/advice.ts";
import { described, explainInjection, logs, type Named, shows } from "../advice/commands.ts";
import { cniOnNodes } from "./data_plane/cni.ts";
import {
  moreMemory,
  otherImages,
  recreatedWhen,
  smallerRequests,
  withoutOwnControlPlane,
  withoutOwnImage,
} from "./data_plane/cures.ts";
import {
  conditionOf,
  type ContainerState,
  endingText,
  isWithoutImage,
  lastEnding,
  OR_NETWORK,
  type ProxyPod,
  proxyPods,
  reported,
  unreadyText,
  waitingMessage,
  waitingReason,
} from "./data_plane/proxies.ts";
import { findingOf, namedIn, type Problem, type ProblemOf } from "./findings.ts";

/** Waiting reasons of the kubelet for a container that it cannot create or start. */
const START_REASONS = new Set(["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]);
const KILLED_BY_KERNEL = 137;

interface PodCheck extends Omit<CheckRow, "run"> {
  readonly judge: (pod: ProxyPod, now: Date) => ProblemOf | undefined;
  readonly advice?: (pod: Named) => readonly Advice[];
  /** Returns the advice to put first. Sends requests to the API server, so it is called only if there is a problem. */
  readonly first?: (facts: Facts) => Promise<(pod: Named) => readonly Advice[]>;
}

type PodRow = Omit<PodCheck, "id" | "title">;

export const POD_CHECKS: readonly PodCheck[] = [
  { id: "proxy-scheduled", title: "pods with a proxy are scheduled", judge: scheduled },
  {
    id: "proxy-image",
    title: "proxy images can be pulled",
    judge: imagePulled,
    first: otherImages,
    advice: (pod) => [
      described(pod),
      byHand(`give the namespace imagePullSecrets for the registry, ${OR_NETWORK}`, "mesh"),
    ],
  },
  {
    id: "proxy-init",
    title: "proxy init containers succeed",
    judge: initialized,
    advice: (pod) => [seeLogs(pod)],
  },
  { id: "proxy-ready", title: "proxies are ready", judge: ready },
  { id: "proxy-memory", title: "no proxy was OOM-killed", judge: withinMemory },
  { id: "proxy-restarts", title: "proxies do not restart", judge: steady },
];

function seeLogs(pod: Named): Advice {
  return look("see the logs", logs(pod, "--all-containers"));
}

export const DATA_PLANE_CHECKS: readonly CheckRow[] = [
  ...POD_CHECKS.map(({ id, title, ...row }): CheckRow => ({ id, title, run: (facts) => overPods(row, facts) })),
  { id: "cni-plugin", title: "the CNI plugin runs on every node that needs it", run: cniOnNodes },
  {
    id: "proxy-synchronised",
    title: "proxies that are not ready have configuration and certificate",
    run: unreadyProxies,
  },
];

async function overPods(check: PodRow, facts: Facts): Promise<Finding> {
  const [pods, now] = [await facts.pods(), facts.clock.now()];
  const finding = judgePods(check, pods, now);
  const first = finding.fixes === undefined ? undefined : await check.first?.(facts);
  if (first === undefined) return finding;
  return judgePods({ ...check, advice: (pod) => [...first(pod), ...check.advice?.(pod) ?? []] }, pods, now);
}

/** Maximum number of proxies to query. Each query runs a command in the proxy's container. */
const MAX_ASKED = 20;
const ASKED_AT_ONCE = 5;

/** Queries running proxies that are not ready for their configuration and certificate. */
async function unreadyProxies({ pods, proxyAnswer }: Pick<Facts, "pods" | "proxyAnswer">): Promise<Finding> {
  let hasProxies = false;
  const unready: ProxyPod[] = [];
  for (const each of proxyPods(await pods())) {
    hasProxies = true;
    const { ready, state } = each.proxy.status;
    if (ready === false && state?.running !== undefined && unready.length < MAX_ASKED) unready.push(each);
  }
  if (!hasProxies) return NO_PROXY;
  const asked = await atOnce(unready, ASKED_AT_ONCE, async ({ object, pod, proxy }) => {
    const answer = await proxyAnswer(pod, proxy.name);
    return (answer?.problems ?? []).slice(0, 1).map((problem): Problem => ({ object, ...problem }));
  });
  return findingOf(asked.flat(), ({ namespace, name }) => [
    look("see the state of the mesh in the pod", shows("mesh", "explain", `pod/${name}`, "-n", namespace)),
  ]);
}

export function judgePods({ judge, advice }: PodRow, pods: readonly Pod[], now: Date): Finding {
  let hasProxies = false;
  const problems: Problem[] = [];
  for (const each of proxyPods(pods)) {
    hasProxies = true;
    const found = judge(each, now);
    if (found !== undefined) problems.push({ object: each.object, ...found });
  }
  return hasProxies ? findingOf(problems, advice) : NO_PROXY;
}

const NO_PROXY: Finding = { result: "skipped", message: "no pod has a proxy" };

/** Reports without delay, because an unscheduled pod does not recover by itself (linkerd2 #4680). */
function scheduled({ object, pod, proxy }: ProxyPod): ProblemOf | undefined {
  const condition = conditionOf(pod, "PodScheduled");
  if (condition?.status !== "False") return undefined;
  const said = condition.message ?? "";
  return {
    result: "error",
    message: [condition.reason || "is not scheduled", ...reported(said)].join(": "),
    advice: [
      ...smallerRequests(pod, proxy.spec, said),
      byHand("free resources on the nodes, or lower the requests of its containers", "workload"),
      described(namedIn(object)),
    ],
  };
}

function imagePulled({ object, pod, proxy, init }: ProxyPod): ProblemOf | undefined {
  const without = [init, proxy].find((each) => each !== undefined && isWithoutImage(each));
  if (without === undefined) return undefined;
  const image = textAt(without.spec, "image");
  if (image === AUTO) {
    const [, namespace = "", name = ""] = object.split("/");
    return {
      result: "error",
      message: `${without.name} has the image "auto", which injection replaces, but the pod is not injected`,
      advice: [look("see why the pod is not injected", explainInjection({ kind: "pod", namespace, name }))],
    };
  }
  const message = [
    `${without.name} cannot pull the image "${image}"`,
    waitingReason(without),
    ...reported(waitingMessage(without)),
  ];
  const own = withoutOwnImage(pod);
  const problem = { result: "error", message: message.join(": ") } as const;
  return own.length === 0 ? problem : { ...problem, advice: [...own, described(namedIn(object))] };
}

/** Image placeholder in manifests of gateways and of user-defined proxies. The injector replaces it. */
const AUTO = "auto";

function initialized({ object, pod, init }: ProxyPod): ProblemOf | undefined {
  if (init === undefined || !hasFailed(init)) return undefined;
  const ending = lastEnding(init);
  if (START_REASONS.has(waitingReason(init)) || ending === undefined) {
    return { result: "error", message: notStarted(init) };
  }
  const problem = { result: "error", message: `${init.name} ${endingText(ending)}` } as const;
  if (ending.code !== EXIT.notCaptured) return problem;
  const again = recreatedWhen(pod, "when the CNI plugin's pods on their nodes are ready");
  return { ...problem, advice: [again, seeLogs(namedIn(object))] };
}

function hasFailed(init: ContainerState): boolean {
  return START_REASONS.has(waitingReason(init)) || (lastEnding(init)?.code ?? 0) !== 0;
}

function ready(each: ProxyPod, now: Date): ProblemOf | undefined {
  const { object, pod, proxy } = each;
  if (proxy.status.ready === true || isBefore(pod, proxy)) return undefined;
  const { waiting, running, terminated } = proxy.status.state ?? {};
  if ((waiting ?? running ?? terminated) === undefined) {
    const message = `the kubelet reports no status of ${proxy.name}`;
    return { result: "error", message, advice: [described(namedIn(object))] };
  }
  const message = notReady(each, now);
  const advice = [look("see its log", logs(namedIn(object), "-c", PROXY)), ...withoutOwnControlPlane(pod)];
  return message === undefined ? undefined : { result: "error", message, advice };
}

/** Returns `undefined` if other checks report the proxy, or if the proxy may still start. */
function notReady(each: ProxyPod, now: Date): string | undefined {
  const { proxy } = each;
  if (waitingReason(proxy) === "PodInitializing") return initializing(each, now);
  if (START_REASONS.has(waitingReason(proxy))) return notStarted(proxy);
  const ending = lastEnding(proxy);
  const last = ending === undefined ? [] : [`it ${endingText(ending)}`];
  return [`${proxy.name} ${unreadyText(proxy)}`, ...last].join(", ");
}

/** Whether other checks report why the proxy has not started. */
function isBefore(pod: ProxyPod["pod"], proxy: ContainerState): boolean {
  return isWithoutImage(proxy) || conditionOf(pod, "PodScheduled")?.status === "False";
}

/** Maximum age of a pod, in minutes, at which running init containers are not reported. */
const INIT_MINUTES = 5;

/** Describes a proxy that waits for init containers. Other checks report failures of the injected init container. */
function initializing({ pod, proxy, init }: ProxyPod, now: Date): string | undefined {
  const since = Date.parse(pod.metadata.creationTimestamp ?? "");
  const minutes = Math.floor((now.getTime() - since) / 60_000);
  if (minutes < INIT_MINUTES || (init !== undefined && (hasFailed(init) || isWithoutImage(init)))) return undefined;
  const blocking = (pod.status?.initContainerStatuses ?? []).find(({ state }) => state?.terminated?.exitCode !== 0);
  const cause = blocking === undefined ? "" : `: the init container "${blocking.name}" has not finished`;
  const time = Number.isNaN(minutes) ? "" : ` for ${minutes} minutes`;
  return `${proxy.name} waits${time}${cause}`;
}

function notStarted(state: ContainerState): string {
  return [`${state.name} does not start`, waitingReason(state), ...reported(waitingMessage(state))].join(": ");
}

function withinMemory({ pod, proxy }: ProxyPod): ProblemOf | undefined {
  const ending = lastEnding(proxy);
  if (ending === undefined || !isOutOfMemory(ending.reason, ending.code)) return undefined;
  const limit = textAt(mapAt(mapAt(proxy.spec, "resources"), "limits"), "memory");
  const bound = limit === "" ? "without a memory limit" : `with a limit of ${limit}`;
  const restarts = proxy.status.restartCount ?? 0;
  const message = `${proxy.name} was OOM-killed ${bound}, restarts: ${restarts}`;
  return { result: "warning", message, advice: moreMemory(pod, proxy.spec) };
}

/** Whether a container was OOM-killed. The agent exits with 137 if the kernel killed only Envoy. */
function isOutOfMemory(reason: string, code: number): boolean {
  return reason === "OOMKilled" || code === KILLED_BY_KERNEL;
}

function steady({ object, pod, proxy }: ProxyPod): ProblemOf | undefined {
  const restarts = proxy.status.restartCount ?? 0;
  const ending = lastEnding(proxy);
  if (restarts === 0 || ending === undefined || isOutOfMemory(ending.reason, ending.code)) return undefined;
  const times = restarts === 1 ? "once" : `${restarts} times`;
  return {
    result: "warning",
    message: `${proxy.name} restarted ${times}, the last time it ${endingText(ending)}`,
    advice: [
      look("see its previous log", logs(namedIn(object), "-c", proxy.name, "--previous")),
      { ...recreatedWhen(pod, "if the cause is gone, to reset the restart count"), isGuess: true },
    ],
  };
}
