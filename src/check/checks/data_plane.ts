/** The category data-plane: pods with a proxy, as the kubelet reports them. */
import type { Pod } from "../../core/kube/client/mod.ts";
import { ANNOTATION } from "../../core/mesh/annotations/names.ts";
import { mapAt, textAt, type ValueMap } from "../../core/value.ts";
import { podOwner } from "../../inject/mod.ts";
import type { Check, Finding } from "../check.ts";
import type { Facts } from "../facts.ts";
import { atOnce } from "../../core/at_once.ts";
import { type Advice, byHand, look } from "../advice/advice.ts";
import { explainInjection, logs, type Named, shows } from "../advice/commands.ts";
import { annotatedPod } from "../injection/workload_advice.ts";
import { endingText, reported } from "./data_plane/agent_report.ts";
import {
  conditionOf,
  type ContainerState,
  lastEnding,
  type ProxyPod,
  proxyPods,
  restartsOf,
  waitingMessage,
  waitingReason,
} from "./data_plane/proxies.ts";
import { type AdviceFor, findingOf, type Problem } from "./findings.ts";
import { amountsOf, amountText } from "./security/pod_resources.ts";

/** The kubelet's reasons for a missing image (k8s.io/kubernetes/pkg/kubelet/images). */
const IMAGE_REASONS = new Set([
  "ErrImagePull",
  "ImagePullBackOff",
  "ErrImageNeverPull",
  "InvalidImageName",
  "ImageInspectError",
  "RegistryUnavailable",
  "SignatureValidationFailed",
]);
/** The kubelet's reasons for a container that it cannot create. */
const START_REASONS = new Set(["CreateContainerConfigError", "CreateContainerError", "RunContainerError"]);
const KILLED_BY_KERNEL = 137;

type Told = Omit<Problem, "object"> | undefined;

/** A check of each pod. */
interface PodCheck {
  readonly id: string;
  readonly title: string;
  readonly judge: (pod: ProxyPod, now: Date) => Told;
  /** What to do about it. */
  readonly advice?: AdviceFor;
}

/** The checks of this category. */
export const POD_CHECKS: readonly PodCheck[] = [
  {
    id: "proxy-scheduled",
    title: "pods with a proxy are scheduled",
    judge: scheduled,
    advice: (pod) => [
      byHand("make room, or lower the requests of the proxy (sidecar.istio.io/proxyCPU, proxyMemory)", "workload"),
      described(pod),
    ],
  },
  {
    id: "proxy-image",
    title: "proxy images can be pulled",
    judge: imagePulled,
    advice: (pod) => [
      described(pod),
      byHand(
        "correct hub, tag and imagePullSecrets of the injector's values, or the way from nodes to the registry",
        "mesh",
      ),
    ],
  },
  {
    id: "proxy-init",
    title: "proxy init containers succeed",
    judge: initialized,
    advice: (pod) => [look("see the logs", logs(pod, "--all-containers"))],
  },
  {
    id: "proxy-ready",
    title: "proxies are ready",
    judge: ready,
    advice: (pod) => [look("see its log", logs(pod, "-c", "istio-proxy"))],
  },
  {
    id: "proxy-memory",
    title: "no proxy was OOM-killed",
    judge: withinMemory,
  },
  {
    id: "proxy-restarts",
    title: "proxies do not restart",
    judge: steady,
    advice: (pod) => [look("see its previous log", logs(pod, "-c", "istio-proxy", "--previous"))],
  },
];

function described({ namespace, name }: Named) {
  return look("see what happened to it", shows("describe", "pod", name, "-n", namespace));
}

export const DATA_PLANE_CHECKS: readonly Check[] = [
  ...POD_CHECKS.map((check): Check => ({
    id: check.id,
    category: "data-plane",
    title: check.title,
    needs: [],
    run: async ({ pods, clock }) => judgePods(check, await pods(), clock.now()),
  })),
  {
    id: "proxy-synchronised",
    category: "data-plane",
    title: "proxies that are not ready have configuration and certificate",
    needs: [],
    run: async (facts) => await unreadyProxies(facts),
  },
];

/** Each is asked by commands in its container. */
const MOST_ASKED = 20;
const ASKED_AT_ONCE = 5;

/** Asks the proxies themselves that run and are not ready. */
async function unreadyProxies({ pods, proxyAnswer }: Pick<Facts, "pods" | "proxyAnswer">): Promise<Finding> {
  let hasProxies = false;
  const unready: ProxyPod[] = [];
  for (const each of proxyPods(await pods())) {
    hasProxies = true;
    const { ready, state } = each.proxy.status;
    if (ready === false && state?.running !== undefined && unready.length < MOST_ASKED) unready.push(each);
  }
  if (!hasProxies) return NO_PROXY;
  const asked = await atOnce(unready, ASKED_AT_ONCE, async ({ object, pod, proxy }) => {
    const answer = await proxyAnswer(pod, proxy.name);
    return (answer?.problems ?? []).slice(0, 1).map((problem): Problem => ({ object, ...problem }));
  });
  return findingOf(asked.flat(), ({ namespace, name }) => [
    look("see what the pod's side of the mesh does", shows("mesh", "explain", `pod/${name}`, "-n", namespace)),
  ]);
}

/** Runs a check over all pods. */
export function judgePods({ judge, advice }: PodCheck, pods: readonly Pod[], now: Date): Finding {
  let hasProxies = false;
  const problems: Problem[] = [];
  for (const each of proxyPods(pods)) {
    hasProxies = true;
    const told = judge(each, now);
    if (told !== undefined) problems.push({ object: each.object, ...told });
  }
  return hasProxies ? findingOf(problems, advice) : NO_PROXY;
}

const NO_PROXY: Finding = { result: "skipped", message: "no pod has a proxy" };

/** Reports the scheduler's reason: waiting does not help (linkerd2 #4680). */
function scheduled({ pod }: ProxyPod): Told {
  const condition = conditionOf(pod, "PodScheduled");
  if (condition?.status !== "False") return undefined;
  const said = reported(condition.message ?? "");
  return { result: "error", message: [condition.reason || "is not scheduled", ...said].join(": ") };
}

function imagePulled({ object, proxy, init }: ProxyPod): Told {
  const without = [init, proxy].find((each) => each !== undefined && isWithoutImage(each));
  if (without === undefined) return undefined;
  const image = textAt(without.spec, "image");
  if (image === AUTO) {
    const [, namespace = "", name = ""] = object.split("/");
    return {
      result: "error",
      message: `${without.name} has the image "auto", which injection replaces, and nothing injects it`,
      advice: [look("see why nothing injects it", explainInjection({ kind: "pod", namespace, name }))],
    };
  }
  const message = [
    `${without.name} cannot pull the image "${image}"`,
    waitingReason(without),
    ...reported(waitingMessage(without)),
  ];
  return { result: "error", message: message.join(": ") };
}

/** The image of gateways and of own proxies in manifests: the injector fills it in. */
const AUTO = "auto";

function isWithoutImage(state: ContainerState): boolean {
  return IMAGE_REASONS.has(waitingReason(state));
}

function initialized({ init }: ProxyPod): Told {
  if (init === undefined || !hasFailed(init)) return undefined;
  const ending = lastEnding(init);
  if (START_REASONS.has(waitingReason(init)) || ending === undefined) {
    return { result: "error", message: notStarted(init) };
  }
  return { result: "error", message: `${init.name} ${endingText(ending)}` };
}

function hasFailed(init: ContainerState): boolean {
  return START_REASONS.has(waitingReason(init)) || (lastEnding(init)?.code ?? 0) !== 0;
}

function ready(each: ProxyPod, now: Date): Told {
  const { pod, proxy } = each;
  if (proxy.status.ready === true || isBefore(pod, proxy)) return undefined;
  if (waitingReason(proxy) === "PodInitializing") return initializing(each, now);
  if (START_REASONS.has(waitingReason(proxy))) return { result: "error", message: notStarted(proxy) };
  return notReady(each);
}

function notReady({ pod, proxy }: ProxyPod): Told {
  const { waiting, running, terminated } = proxy.status.state ?? {};
  if ((waiting ?? running ?? terminated) === undefined) {
    const { name, namespace = "" } = pod.metadata;
    const message = `the kubelet reports nothing of ${proxy.name}`;
    return { result: "error", message, advice: [described({ kind: "pod", namespace, name })] };
  }
  const ending = lastEnding(proxy);
  const present = running === undefined ? "does not run" : "runs but is not ready";
  const state = waitingReason(proxy) === "" ? present : `waits: ${waitingReason(proxy)}`;
  const last = ending === undefined ? [] : [`it ${endingText(ending)}`];
  return { result: "error", message: [`${proxy.name} ${state}`, ...last].join(", ") };
}

/** Other checks report why the kubelet has not started the proxy. */
function isBefore(pod: ProxyPod["pod"], proxy: ContainerState): boolean {
  return isWithoutImage(proxy) || conditionOf(pod, "PodScheduled")?.status === "False";
}

/** Init containers may take this long. */
const INIT_MINUTES = 5;

/** The proxy waits for init containers. Other checks report that of the injection. */
function initializing({ pod, proxy, init }: ProxyPod, now: Date): Told {
  const since = Date.parse(pod.metadata.creationTimestamp ?? "");
  const minutes = Math.floor((now.getTime() - since) / 60_000);
  if (minutes < INIT_MINUTES || (init !== undefined && (hasFailed(init) || isWithoutImage(init)))) return undefined;
  const blocking = (pod.status?.initContainerStatuses ?? []).find(({ state }) => state?.terminated?.exitCode !== 0);
  const cause = blocking === undefined ? "" : `: its init container "${blocking.name}" has not ended`;
  const time = Number.isNaN(minutes) ? "" : ` for ${minutes} minutes`;
  return { result: "error", message: `${proxy.name} waits${time}${cause}` };
}

function notStarted(state: ContainerState): string {
  return [`${state.name} does not start`, waitingReason(state), ...reported(waitingMessage(state))].join(": ");
}

function withinMemory({ pod, proxy }: ProxyPod): Told {
  const ending = lastEnding(proxy);
  if (ending === undefined || !isOutOfMemory(ending.reason, ending.code)) return undefined;
  const limit = textAt(mapAt(mapAt(proxy.spec, "resources"), "limits"), "memory");
  const bound = limit === "" ? "without a memory limit" : `with a limit of ${limit}`;
  const restarts = restartsOf(proxy);
  const message = `${proxy.name} was OOM-killed ${bound}, restarts: ${restarts}`;
  return { result: "warning", message, advice: memoryAdvice(pod, proxy.spec) };
}

const RESOURCES = [
  ["requests.cpu", ANNOTATION.proxyCpu],
  ["requests.memory", ANNOTATION.proxyMemory],
  ["limits.cpu", ANNOTATION.proxyCpuLimit],
  ["limits.memory", ANNOTATION.proxyMemoryLimit],
] as const;

/** All four together: as soon as one of them is there, templates ignore the resources of the injector's values. */
function memoryAdvice(pod: Pod, proxy: ValueMap): readonly Advice[] {
  const amounts = amountsOf(proxy);
  const limit = amounts.get("limits.memory");
  const narrower = byHand("limit the proxy's configuration by a Sidecar resource", "namespace");
  if (limit === undefined) return [narrower];
  const annotations = RESOURCES.flatMap(([name, annotation]) => {
    const amount = name === "limits.memory" ? 2n * limit : amounts.get(name);
    return amount === undefined ? [] : [[annotation, amountText(amount, name)]];
  });
  const change = "double the proxy's memory limit, and keep its other resources";
  const { kind, namespace, name } = podOwner(pod, pod.metadata.namespace ?? "");
  return [
    annotatedPod({ kind: kind.toLowerCase(), namespace, name }, change, Object.fromEntries(annotations)),
    narrower,
  ];
}

/** The agent also exits with 137 if the kernel killed Envoy alone. */
function isOutOfMemory(reason: string, code: number): boolean {
  return reason === "OOMKilled" || code === KILLED_BY_KERNEL;
}

function steady({ proxy }: ProxyPod): Told {
  const restarts = restartsOf(proxy);
  const ending = lastEnding(proxy);
  if (restarts === 0 || ending === undefined || isOutOfMemory(ending.reason, ending.code)) return undefined;
  const times = restarts === 1 ? "once" : `${restarts} times`;
  return { result: "warning", message: `${proxy.name} restarted ${times}, the last time it ${endingText(ending)}` };
}
