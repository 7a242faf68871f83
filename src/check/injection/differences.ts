/** Compares the live pods of a workload with a new pod. */
import type { Pod } from "../../kube/client/mod.ts";
import { textAt } from "../../base/value.ts";
import { findProxy, podOwner } from "../../inject/mod.ts";
import { isAlive, type LivePod, livePod } from "../inventory/live_pods.ts";
import type { Target } from "./target.ts";
import { IN_MANIFEST, type Verdict } from "./verdict.ts";

/** Returns the live pods that the workload owns, directly or through another controller. */
export function livePods(target: Target, pods: readonly Pod[]): readonly LivePod[] {
  return pods.filter((pod) => isAlive(pod) && isOf(target, pod)).map(livePod);
}

function isOf({ row, name, namespace }: Target, pod: Pod): boolean {
  if ((pod.metadata.namespace ?? "") !== namespace) return false;
  if (row.kind === "Pod") return pod.metadata.name === name;
  const owner = podOwner(pod, namespace);
  if (owner.kind === row.kind && owner.name === name) return true;
  const references = pod.metadata.ownerReferences ?? [];
  return references.some((each) => each.kind === row.kind && each.name === name);
}

interface Difference {
  readonly pods: (verdict: Verdict, live: readonly LivePod[]) => readonly LivePod[];
  /** Describes the difference, as the end of a sentence that starts with `2 live pods have`. */
  readonly text: (verdict: Verdict, first: LivePod) => string;
}

const DIFFERENCES: readonly Difference[] = [
  {
    pods: ({ result }, live) => result !== undefined ? live.filter(({ proxy }) => !proxy) : [],
    text: () => "no proxy, but a new pod gets a proxy",
  },
  {
    pods: ({ verdict, reason }, live) =>
      verdict === "not-injected" && reason !== IN_MANIFEST ? live.filter(({ proxy }) => proxy) : [],
    text: () => "a proxy, but a new pod does not get one",
  },
  {
    pods: (verdict, live) => {
      const next = proxyImage(verdict);
      return next === "" ? [] : live.filter(({ image }) => image !== null && image !== next);
    },
    text: (verdict, { image }) => `the proxy "${image}", but a new pod gets "${proxyImage(verdict)}"`,
  },
];

export function differences(verdict: Verdict, live: readonly LivePod[]): readonly string[] {
  return DIFFERENCES.flatMap(({ pods, text }) => {
    const found = pods(verdict, live);
    const [first] = found;
    if (first === undefined) return [];
    const have = found.length === 1 ? "1 live pod has" : `${found.length} live pods have`;
    return [`${have} ${text(verdict, first)}`];
  });
}

function proxyImage({ result }: Verdict): string {
  const proxy = result === undefined ? undefined : findProxy(result);
  return proxy === undefined ? "" : textAt(proxy, "image");
}
