/**
 * Plans the same rules as istio-iptables, in the same order (spec/iptables.md 1.5), so that the kernel state is the
 * same.
 */
import { type Address, type Cidr, hostBlock } from "../../golang/net/mod.ts";
import type { CaptureSettings } from "../settings/settings.ts";
import { jump, onePort, type PlanContext, ports, RETURN, rule, TCP } from "./context.ts";
import { dnsRules } from "./dns.ts";
import { inboundRules } from "./inbound.ts";
import { captureRules, exclusionRules, groupRules, ownerRules } from "./outbound.ts";
import type { Family, Plan, PolicyRule, Rule } from "./rule.ts";
import { tproxyRules } from "./tproxy.ts";

export interface PlanNetwork {
  readonly hasIpv6: boolean;
  /** DNS servers to capture queries for; ignored with `captureAllDns`. */
  readonly dnsServers: readonly Address[];
}

const IPV6_LOOPBACK: Cidr = { address: { family: 6, value: 1n, zone: "" }, bits: 128 };

/** Returns the plan for these settings in this network. */
export function makePlan(settings: CaptureSettings, network: PlanNetwork): Plan {
  const families: Family[] = network.hasIpv6 ? [4, 6] : [4];
  const context: PlanContext = {
    settings,
    families,
    loopback: { 4: settings.loopbackCidr, 6: IPV6_LOOPBACK },
    dns: dnsCapture(settings, network.dnsServers),
  };
  const rules = STEPS.flatMap((step) => step(context));
  return {
    families,
    rules: rules.filter(({ family }) => family === undefined || families.includes(family)),
    policyRules: policyRules(settings, families),
  };
}

/**
 * Returns the DNS servers to capture. Skips servers of a family that the pod lacks, because the pod cannot reach them.
 */
function dnsCapture(settings: CaptureSettings, servers: readonly Address[]): PlanContext["dns"] {
  if (!settings.redirectDns) return "off";
  if (settings.captureAllDns) return "all";
  return servers.length === 0 ? "off" : servers.map(hostBlock);
}

function policyRules(settings: CaptureSettings, families: readonly Family[]): PolicyRule[] {
  const captures = settings.inboundPorts === "*" || settings.inboundPorts.length > 0;
  if (settings.mode !== "TPROXY" || !captures) return [];
  return families.map((family) => ({ family, mark: settings.mark, table: settings.routeTable }));
}

/** The steps of the plan, in the order in which their rules are appended. */
const STEPS: readonly ((context: PlanContext) => Rule[])[] = [
  excludedInterfaceRules,
  virtualInterfaceRules,
  invalidRules,
  baseRules,
  inboundRules,
  () => [
    rule({ table: "nat", chain: "OUTPUT" }, [], jump("ISTIO_OUTPUT"), "outbound traffic enters the capture chain"),
  ],
  exclusionRules,
  ownerRules,
  groupRules,
  dnsRules,
  captureRules,
  tproxyRules,
];

function excludedInterfaceRules({ settings }: PlanContext): Rule[] {
  const tables = settings.mode === "TPROXY" ? ["nat", "mangle"] as const : ["nat"] as const;
  return tables.flatMap((table) =>
    settings.excludeInterfaces.flatMap((name) => {
      const why = `traffic of the excluded interface ${name} is not captured`;
      return [
        rule({ table, chain: "PREROUTING" }, [{ kind: "inInterface", name }], RETURN, why),
        rule({ table, chain: "OUTPUT" }, [{ kind: "outInterface", name }], RETURN, why),
      ];
    })
  );
}

function virtualInterfaceRules({ settings }: PlanContext): Rule[] {
  return settings.virtualInterfaces.map((name) => {
    const why = `traffic from virtual machines on ${name} is not inbound traffic of the pod`;
    return rule({ table: "nat", chain: "PREROUTING", insertAt: 1 }, [{ kind: "inInterface", name }], RETURN, why);
  });
}

function invalidRules({ settings }: PlanContext): Rule[] {
  if (!settings.dropInvalid) return [];
  const why = "packets in the conntrack state INVALID are dropped";
  const state = { kind: "connectionState", states: ["INVALID"] } as const;
  return [
    rule({ table: "mangle", chain: "PREROUTING" }, [state], jump("ISTIO_DROP"), why),
    rule({ table: "mangle", chain: "ISTIO_DROP" }, [], { kind: "drop" }, why),
  ];
}

function baseRules({ settings: { tunnelPort, proxyPort, inboundPort } }: PlanContext): Rule[] {
  const tunnel = `HBONE connections to port ${tunnelPort} reach the proxy without capture`;
  const redirect = (chain: string, port: number, what: string) =>
    rule({ table: "nat", chain }, [TCP], { kind: "redirect", port }, `${what} go to the proxy, port ${port}`);
  return [
    rule({ table: "nat", chain: "ISTIO_INBOUND" }, [TCP, ports(onePort(tunnelPort))], RETURN, tunnel),
    redirect("ISTIO_REDIRECT", proxyPort, "captured outbound connections"),
    redirect("ISTIO_IN_REDIRECT", inboundPort, "captured inbound connections"),
  ];
}
