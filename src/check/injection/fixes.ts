/** The commands that change what a webhook decided. */
import { changePod, kubectl } from "./commands.ts";
import type { Target } from "./target.ts";

const INJECT = "sidecar.istio.io/inject";

type Fix = (target: Target) => readonly string[];

const ask: Fix = (target) => [changePod(target, { of: "labels", key: INJECT, value: "true" })];

/** Fixes by the reason of the decision. Other reasons have no command, such as a system namespace. */
const FIXES: Readonly<Record<string, Fix>> = {
  "label-inject-false": (target) => [changePod(target, { of: "labels", key: INJECT, value: null })],
  "annotation-inject-false": (target) => [changePod(target, { of: "annotations", key: INJECT, value: null })],
  "never-inject-selector": ask,
  "policy-disabled": ask,
  "pod-host-network": ownNetwork,
};

/** The commands that make the webhook inject. */
export function decisionFix(reason: string, target: Target): readonly string[] {
  return FIXES[reason]?.(target) ?? [];
}

/** A pod without a controller must be recreated to change its network. */
function ownNetwork(target: Target): readonly string[] {
  const field = [...target.row.path, "spec"];
  if (target.file !== undefined) return [`remove "hostNetwork" from ${field.join(".")} in ${target.file}`];
  if (target.row.kind === "Pod") return [];
  const patch = field.reduceRight<object>((inner, key) => ({ [key]: inner }), { hostNetwork: null });
  const name = `${target.row.kind.toLowerCase()}/${target.name}`;
  return [kubectl("patch", name, "-n", target.namespace, "--type=merge", "-p", JSON.stringify(patch))];
}
