import type { PlanContext } from "./plan.ts";
import type { Match, PortRange, Rule, Target } from "./rule.ts";

const TCP = { kind: "protocol", protocol: "tcp" } as const;

/** Step 7: inbound connections reach the proxy, by redirection or by TPROXY; nothing without inbound ports. */
export function inboundRules(context: PlanContext): Rule[] {
  const { inboundPorts } = context.settings;
  if (inboundPorts !== "*" && inboundPorts.length === 0) return [];
  const table = context.settings.mode === "TPROXY" ? "mangle" : "nat";
  const entry: Rule = {
    family: undefined,
    table,
    chain: "PREROUTING",
    match: [TCP],
    target: { kind: "jump", chain: "ISTIO_INBOUND" },
    why: "everything that arrives over TCP is looked at",
  };
  return [...tproxyTargets(context), entry, ...excludedPorts(context), ...capturedPorts(context)];
}

function tproxyTargets({ settings, families, loopback }: PlanContext): Rule[] {
  if (settings.mode !== "TPROXY") return [];
  const { mark, inboundPort: port } = settings;
  const known = `packets of connections that the proxy has are marked ${mark}, for the policy rule, and accepted`;
  return [
    {
      family: undefined,
      table: "mangle",
      chain: "ISTIO_DIVERT",
      match: [],
      target: { kind: "setMark", mark },
      why: known,
    },
    { family: undefined, table: "mangle", chain: "ISTIO_DIVERT", match: [], target: { kind: "accept" }, why: known },
    ...families.flatMap((family): Rule[] => {
      const cidr = loopback.get(family);
      return cidr === undefined ? [] : [{
        family,
        table: "mangle",
        chain: "ISTIO_TPROXY",
        match: [{ kind: "destination", cidr, negated: true }, TCP],
        target: { kind: "tproxy", port, mark },
        why: `captured inbound connections go to the proxy, port ${port}, with their addresses kept`,
      }];
    }),
  ];
}

function excludedPorts({ settings }: PlanContext): Rule[] {
  if (settings.inboundPorts !== "*") return [];
  return settings.inboundPortsExclude.map((range) => ({
    family: undefined,
    table: settings.mode === "TPROXY" ? "mangle" : "nat",
    chain: "ISTIO_INBOUND",
    match: [TCP, { kind: "ports", ports: [range] }],
    target: { kind: "return" },
    why: "connections to this port are not captured",
  }));
}

function capturedPorts({ settings }: PlanContext): Rule[] {
  const ranges: readonly (PortRange | undefined)[] = settings.inboundPorts === "*"
    ? [undefined]
    : settings.inboundPorts;
  return ranges.flatMap((range) => settings.mode === "TPROXY" ? tproxied(range) : [redirected(range)]);
}

function redirected(range: PortRange | undefined): Rule {
  return inbound("nat", [TCP, ...portMatch(range)], "ISTIO_IN_REDIRECT", "inbound connections are captured");
}

function tproxied(range: PortRange | undefined): Rule[] {
  const known: Match = { kind: "connectionState", states: ["RELATED", "ESTABLISHED"] };
  return [
    inbound(
      "mangle",
      [TCP, ...portMatch(range), known],
      "ISTIO_DIVERT",
      "packets of known connections stay with the proxy",
    ),
    inbound("mangle", [TCP, ...portMatch(range)], "ISTIO_TPROXY", "inbound connections are captured"),
  ];
}

function inbound(table: "nat" | "mangle", match: readonly Match[], chain: string, why: string): Rule {
  const target: Target = { kind: "jump", chain };
  return { family: undefined, table, chain: "ISTIO_INBOUND", match, target, why };
}

function portMatch(range: PortRange | undefined): Match[] {
  return range === undefined ? [] : [{ kind: "ports", ports: [range] }];
}
