import { proxyOwners } from "./outbound.ts";
import type { PlanContext } from "./plan.ts";
import type { Match, Rule, Target } from "./rule.ts";

/** Marks what the proxy sends to its own pod. */
export const SELF_CALL_MARK = 1338;
const TCP = { kind: "protocol", protocol: "tcp" } as const;
const OUT_LO = { kind: "outInterface", name: "lo" } as const;
const IN_LO = { kind: "inInterface", name: "lo" } as const;

/** Step 18: the mark of TPROXY goes with the connection, and connections of the pod to itself keep out of it. */
export function tproxyRules(context: PlanContext): Rule[] {
  const { settings, families, proxySource } = context;
  if (settings.mode !== "TPROXY") return [];
  const marked: Match = { kind: "mark", mark: settings.mark };
  const own = "what the proxy hands over to the application is not captured again";
  return [
    rule("PREROUTING", [TCP, marked], { kind: "saveMark" }, "the connection of a marked packet is marked"),
    rule("OUTPUT", [TCP, OUT_LO, marked], { kind: "return" }, "marked packets within the pod are left alone"),
    ...selfCalls(context),
    rule(
      "OUTPUT",
      [TCP, { kind: "connectionMark", mark: settings.mark }],
      { kind: "restoreMark" },
      "packets of a marked connection are marked, so that they go back to the proxy",
    ),
    inserted(1, [TCP, marked], "what is marked already is not captured again"),
    ...families.flatMap((family): Rule[] => {
      const cidr = proxySource.get(family);
      return cidr === undefined ? [] : [{ ...inserted(2, [TCP, { kind: "source", cidr }, IN_LO], own), family }];
    }),
    inserted(
      3,
      [TCP, IN_LO, { kind: "mark", mark: SELF_CALL_MARK, negated: true }],
      "of connections within the pod only those that the proxy makes to it are captured",
    ),
  ];
}

function selfCalls(context: PlanContext): Rule[] {
  const why = "what the proxy sends to its own pod is marked as inbound";
  return proxyOwners(context).flatMap((owner) =>
    context.families.flatMap((family): Rule[] => {
      const cidr = context.loopback.get(family);
      if (cidr === undefined) return [];
      const match: Match[] = [{ kind: "destination", cidr, negated: true }, TCP, OUT_LO, owner];
      return [{ ...rule("OUTPUT", match, { kind: "setMark", mark: SELF_CALL_MARK }, why), family }];
    })
  );
}

function inserted(insertAt: number, match: readonly Match[], why: string): Rule {
  return { ...rule("ISTIO_INBOUND", match, { kind: "return" }, why), insertAt };
}

function rule(chain: string, match: readonly Match[], target: Target, why: string): Rule {
  return { family: undefined, table: "mangle", chain, match, target, why };
}
