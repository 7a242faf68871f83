/** Which rules are to blame for a flow that escapes. */
import { MeshError } from "../../core/errors.ts";
import type { World } from "../../core/world/mod.ts";
import { type ApplyOptions, pending } from "../apply/apply.ts";
import { type Plan, type Rule, rulesOf } from "../plan/rule.ts";
import { nftRule } from "../views/nft.ts";
import { ruleLine } from "../views/restore.ts";
import type { Flow, FlowKind } from "./flow.ts";

/** What the kernel holds otherwise than planned, in words; `undefined` if this process may not look. */
export async function differences(
  world: World,
  plan: Plan,
  options: ApplyOptions,
): Promise<readonly string[] | undefined> {
  try {
    return (await pending(world, world.system, plan, options)).differences;
  } catch (error) {
    if (error instanceof MeshError) return undefined;
    throw error;
  }
}

/** The rules of a plan that lead a flow to its port, with the table and the chain that they are to be in. */
export function rulesFor(plan: Plan, { kind, family, port }: Flow, isNative: boolean): string[] {
  const jumpTo = (chain: string) => ({ target }: Rule) => target.kind === "jump" && target.chain === chain;
  const toPort = ({ target }: Rule) => (target.kind === "redirect" || target.kind === "tproxy") && target.port === port;
  const wanted: Readonly<Record<FlowKind, readonly ((rule: Rule) => boolean)[]>> = {
    "outbound": [jumpTo("ISTIO_OUTPUT"), jumpTo("ISTIO_REDIRECT"), toPort],
    "inbound": [
      jumpTo("ISTIO_INBOUND"),
      fromChain("ISTIO_INBOUND", jumpTo("ISTIO_IN_REDIRECT")),
      jumpTo("ISTIO_TPROXY"),
      toPort,
    ],
    "proxy to itself": [jumpTo("ISTIO_OUTPUT"), fromChain("ISTIO_OUTPUT", jumpTo("ISTIO_IN_REDIRECT")), toPort],
    "DNS over TCP": [jumpTo("ISTIO_OUTPUT_DNS"), toPort],
    "DNS over UDP": [jumpTo("ISTIO_OUTPUT_DNS"), toPort],
  };
  return rulesOf(plan, family).filter((rule) => rule.table !== "raw" && wanted[kind].some((fits) => fits(rule)))
    .map((rule) => isNative ? `${rule.table}: ${nftRule(rule)}` : `-t ${rule.table} ${ruleLine(rule)}`);
}

function fromChain(chain: string, fits: (rule: Rule) => boolean): (rule: Rule) => boolean {
  return (rule) => rule.chain === chain && fits(rule);
}
