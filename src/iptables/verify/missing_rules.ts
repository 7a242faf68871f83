/** Finds the rules that a flow depends on. */
import { type Plan, type Rule, rulesOf } from "../plan/rule.ts";
import { nftRule } from "../views/nft.ts";
import { ruleLine } from "../views/restore.ts";
import type { Flow, FlowKind } from "./flows.ts";

/** Returns the rules that a flow depends on. Each is formatted as text that starts with its table. */
export function rulesFor(plan: Plan, { kind, family, port }: Flow, isNative: boolean): string[] {
  const isUsed = ({ chain, target }: Rule) => {
    if (target.kind === "redirect" || target.kind === "tproxy") return target.port === port;
    return target.kind === "jump" &&
      JUMPS[kind].some(([to, from = chain]) => target.chain === to && chain === from);
  };
  return rulesOf(plan, family).filter((rule) => rule.table !== "raw" && isUsed(rule))
    .map((rule) => isNative ? `${rule.table}: ${nftRule(rule)}` : `-t ${rule.table} ${ruleLine(rule)}`);
}

/** Jumps that a flow depends on: the target chain and, if it matters, the chain with the jump. */
const JUMPS: Readonly<Record<FlowKind, readonly (readonly [to: string, from?: string])[]>> = {
  "outbound": [["ISTIO_OUTPUT"], ["ISTIO_REDIRECT"]],
  "inbound": [["ISTIO_INBOUND"], ["ISTIO_IN_REDIRECT", "ISTIO_INBOUND"], ["ISTIO_TPROXY"]],
  "proxy to itself": [["ISTIO_OUTPUT"], ["ISTIO_IN_REDIRECT", "ISTIO_OUTPUT"]],
  "DNS over TCP": [["ISTIO_OUTPUT_DNS"]],
  "DNS over UDP": [["ISTIO_OUTPUT_DNS"]],
};
