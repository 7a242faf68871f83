/** Where live pods are not as the next one would be: they are older than what decides now. */
import { textAt } from "../../core/value.ts";
import { findProxy } from "../../inject/mod.ts";
import type { LivePod } from "./live.ts";
import { UNKNOWN_CONDITION, UNKNOWN_CONFIGURATION, type Verdict } from "./verdict.ts";

interface Difference {
  /** The pods that differ. */
  readonly pods: (verdict: Verdict, live: readonly LivePod[]) => readonly LivePod[];
  /** To follow `2 live pods have`. */
  readonly text: (verdict: Verdict, first: LivePod) => string;
}

const DIFFERENCES: readonly Difference[] = [
  {
    pods: ({ injected }, live) => injected ? live.filter(({ hasProxy }) => !hasProxy) : [],
    text: () => "no proxy, though the next one gets one",
  },
  {
    pods: ({ injected, isRefused }, live) => injected || isRefused ? [] : live.filter(({ hasProxy }) => hasProxy),
    text: () => "a proxy, though the next one gets none",
  },
  {
    pods: (verdict, live) => {
      const next = proxyImage(verdict);
      return next === "" ? [] : live.filter(({ image }) => image !== null && image !== next);
    },
    text: (verdict, { image }) => `the proxy "${image}", the next one gets "${proxyImage(verdict)}"`,
  },
];

/** The differences in words; none where it cannot be told what the next pod is like. */
export function differences(verdict: Verdict, live: readonly LivePod[]): readonly string[] {
  if (verdict.reason === UNKNOWN_CONFIGURATION || verdict.reason === UNKNOWN_CONDITION) return [];
  return DIFFERENCES.flatMap(({ pods, text }) => {
    const found = pods(verdict, live);
    const [first] = found;
    if (first === undefined) return [];
    const have = found.length === 1 ? "1 live pod has" : `${found.length} live pods have`;
    return [`${have} ${text(verdict, first)}`];
  });
}

function proxyImage({ injected, result }: Verdict): string {
  const proxy = injected && result !== undefined ? findProxy(result) : undefined;
  return proxy === undefined ? "" : textAt(proxy, "image");
}
