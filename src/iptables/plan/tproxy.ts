import { IN_LO, OUT_LO, type PlanContext, PROXY_SOURCE, proxyOwners, RETURN, rule, TCP } from "./context.ts";
import type { Match, Rule } from "./rule.ts";

/** The packet mark of the proxy's connections to its own pod. */
const SELF_CALL_MARK = 1338;
const PREROUTING = { table: "mangle", chain: "PREROUTING" } as const;
const OUTPUT = { table: "mangle", chain: "OUTPUT" } as const;
const INBOUND = { table: "mangle", chain: "ISTIO_INBOUND" } as const;

/** Step 18: keep the TPROXY mark on connections, and exclude connections within the pod from TPROXY. */
export function tproxyRules(context: PlanContext): Rule[] {
  const { settings: { mode, mark }, families } = context;
  if (mode !== "TPROXY") return [];
  const marked: Match = { kind: "mark", mark };
  const notSelfCall: Match = { kind: "mark", mark: SELF_CALL_MARK, negated: true };
  const again = "traffic from the proxy to the application is not captured again";
  return [
    rule(PREROUTING, [TCP, marked], { kind: "saveMark" }, "a connection gets the mark of its packets"),
    rule(OUTPUT, [TCP, OUT_LO, marked], RETURN, "marked packets within the pod are not changed"),
    ...selfCalls(context),
    rule(
      OUTPUT,
      [TCP, { kind: "connectionMark", mark }],
      { kind: "restoreMark" },
      "packets get the mark of their connection, so that replies go back to the proxy",
    ),
    rule({ ...INBOUND, insertAt: 1 }, [TCP, marked], RETURN, "marked packets are not captured again"),
    ...families.map((family) =>
      rule(
        { ...INBOUND, family, insertAt: 2 },
        [TCP, { kind: "source", cidr: PROXY_SOURCE[family] }, IN_LO],
        RETURN,
        again,
      )
    ),
    rule(
      { ...INBOUND, insertAt: 3 },
      [TCP, IN_LO, notSelfCall],
      RETURN,
      "of the connections within the pod, only those from the proxy are captured",
    ),
  ];
}

function selfCalls(context: PlanContext): Rule[] {
  const why = "traffic from the proxy to its own pod is marked as inbound";
  return proxyOwners(context).flatMap((owner) =>
    context.families.map((family) => {
      const outside: Match = { kind: "destination", cidr: context.loopback[family], negated: true };
      return rule({ ...OUTPUT, family }, [outside, TCP, OUT_LO, owner], { kind: "setMark", mark: SELF_CALL_MARK }, why);
    })
  );
}
