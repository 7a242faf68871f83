import { jump, type PlanContext, ports, RETURN, rule, TCP } from "./context.ts";
import type { Match, Rule } from "./rule.ts";

/** Step 7: send inbound connections to the proxy, with REDIRECT or TPROXY. Without inbound ports, returns no rules. */
export function inboundRules(context: PlanContext): Rule[] {
  const { mode, inboundPorts, inboundPortsExclude } = context.settings;
  if (inboundPorts !== "*" && inboundPorts.length === 0) return [];
  const table = mode === "TPROXY" ? "mangle" : "nat";
  const chain = { table, chain: "ISTIO_INBOUND" } as const;
  const excluded = inboundPorts === "*" ? inboundPortsExclude : [];
  const captured: Match[][] = inboundPorts === "*" ? [[TCP]] : inboundPorts.map((range) => [TCP, ports(range)]);
  return [
    ...tproxyTargets(context),
    rule({ table, chain: "PREROUTING" }, [TCP], jump(chain.chain), "inbound TCP traffic enters the capture chain"),
    ...excluded.map((range) => rule(chain, [TCP, ports(range)], RETURN, "connections to this port are not captured")),
    ...captured.flatMap((match) =>
      mode === "TPROXY"
        ? [
          rule(chain, [...match, KNOWN], jump("ISTIO_DIVERT"), "packets of known connections stay with the proxy"),
          rule(chain, match, jump("ISTIO_TPROXY"), "inbound connections are captured"),
        ]
        : [rule(chain, match, jump("ISTIO_IN_REDIRECT"), "inbound connections are captured")]
    ),
  ];
}

const KNOWN: Match = { kind: "connectionState", states: ["RELATED", "ESTABLISHED"] };

function tproxyTargets({ settings, families, loopback }: PlanContext): Rule[] {
  if (settings.mode !== "TPROXY") return [];
  const { mark, inboundPort: port } = settings;
  const divert = { table: "mangle", chain: "ISTIO_DIVERT" } as const;
  const marked = `packets of the proxy's connections get mark ${mark}, for the policy rule, and are accepted`;
  const why = `captured inbound connections go to the proxy, port ${port}, with their addresses kept`;
  return [
    rule(divert, [], { kind: "setMark", mark }, marked),
    rule(divert, [], { kind: "accept" }, marked),
    ...families.map((family) => {
      const outside: Match = { kind: "destination", cidr: loopback[family], negated: true };
      return rule(
        { family, table: "mangle", chain: "ISTIO_TPROXY" },
        [outside, TCP],
        { kind: "tproxy", port, mark },
        why,
      );
    }),
  ];
}
