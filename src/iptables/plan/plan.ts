/**
 * The rule plan of some settings: the recipe of istio-iptables in its order (spec/iptables.md 1.5). The kernel state
 * that results is the peer's; each step says in words what its rules are there for.
 */
import type { Address, Cidr } from "../../core/net.ts";
import { hostBlock } from "../address_text.ts";
import type { CaptureSettings } from "../settings/settings.ts";
import { dnsRules } from "./dns.ts";
import { inboundRules } from "./inbound.ts";
import { captureRules, exclusionRules, groupRules, ownerRules } from "./outbound.ts";
import type { Family, Plan, PolicyRule, Rule } from "./rule.ts";
import { tproxyRules } from "./tproxy.ts";

/** What the pod's network adds to the settings. */
export interface PlanNetwork {
  readonly hasIpv6: boolean;
  /** Servers whose queries are captured; of no account with `captureAllDns`. */
  readonly dnsServers: readonly Address[];
}

/** What the steps read. */
export interface PlanContext {
  readonly settings: CaptureSettings;
  readonly families: readonly Family[];
  /** How the application, and how the proxy, reach their own pod; for each family. */
  readonly loopback: ReadonlyMap<Family, Cidr>;
  readonly proxySource: ReadonlyMap<Family, Cidr>;
  readonly dns: "off" | "all" | readonly Cidr[];
}

const IPV6_LOOPBACK: Cidr = { address: { family: 6, value: 1n, zone: "" }, bits: 128 };
const PROXY_SOURCE_IPV4: Cidr = { address: { family: 4, value: 0x7f000006n, zone: "" }, bits: 32 };
export const PROXY_SOURCE_IPV6: Cidr = { address: { family: 6, value: 6n, zone: "" }, bits: 128 };

/** The plan of some settings in a network. */
export function makePlan(settings: CaptureSettings, network: PlanNetwork): Plan {
  const families: Family[] = network.hasIpv6 ? [4, 6] : [4];
  const context: PlanContext = {
    settings,
    families,
    loopback: new Map([[4, settings.loopbackCidr], [6, IPV6_LOOPBACK]]),
    proxySource: new Map([[4, PROXY_SOURCE_IPV4], [6, PROXY_SOURCE_IPV6]]),
    dns: dnsCapture(settings, network.dnsServers),
  };
  const rules = STEPS.flatMap((step) => step(context));
  return {
    families,
    rules: rules.filter(({ family }) => family === undefined || families.includes(family)),
    policyRules: policyRules(settings, families),
    loopbackAddresses: network.hasIpv6 ? [PROXY_SOURCE_IPV6] : [],
  };
}

/** A v4-only pod has no rule for a server that has an IPv6 address: nothing there can reach it. */
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

/** The steps, in the order in which their rules are appended. */
const STEPS: readonly ((context: PlanContext) => Rule[])[] = [
  excludedInterfaceRules,
  virtualInterfaceRules,
  invalidRules,
  baseRules,
  inboundRules,
  outputJump,
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
    settings.excludeInterfaces.flatMap((name): Rule[] => {
      const why = `traffic of the excluded interface ${name} is not captured`;
      const target = { kind: "return" } as const;
      return [
        { family: undefined, table, chain: "PREROUTING", match: [{ kind: "inInterface", name }], target, why },
        { family: undefined, table, chain: "OUTPUT", match: [{ kind: "outInterface", name }], target, why },
      ];
    })
  );
}

function virtualInterfaceRules({ settings }: PlanContext): Rule[] {
  return settings.virtualInterfaces.map((name) => ({
    family: undefined,
    table: "nat",
    chain: "PREROUTING",
    insertAt: 1,
    match: [{ kind: "inInterface", name }],
    target: { kind: "return" },
    why: `what virtual machines send through ${name} is not inbound traffic of the pod`,
  }));
}

function invalidRules({ settings }: PlanContext): Rule[] {
  if (!settings.dropInvalid) return [];
  const why = "packets that connection tracking calls invalid are dropped";
  return [
    {
      family: undefined,
      table: "mangle",
      chain: "PREROUTING",
      match: [{ kind: "connectionState", states: ["INVALID"] }],
      target: { kind: "jump", chain: "ISTIO_DROP" },
      why,
    },
    { family: undefined, table: "mangle", chain: "ISTIO_DROP", match: [], target: { kind: "drop" }, why },
  ];
}

function baseRules({ settings }: PlanContext): Rule[] {
  const tcp = { kind: "protocol", protocol: "tcp" } as const;
  const tunnel = { first: settings.tunnelPort, last: settings.tunnelPort };
  return [
    {
      family: undefined,
      table: "nat",
      chain: "ISTIO_INBOUND",
      match: [tcp, { kind: "ports", ports: [tunnel] }],
      target: { kind: "return" },
      why: `HBONE connections to port ${settings.tunnelPort} go to the proxy by themselves`,
    },
    redirect("ISTIO_REDIRECT", settings.proxyPort, "captured outbound connections go to the proxy"),
    redirect("ISTIO_IN_REDIRECT", settings.inboundPort, "captured inbound connections go to the proxy"),
  ];
}

function redirect(chain: string, port: number, what: string): Rule {
  const match = [{ kind: "protocol", protocol: "tcp" }] as const;
  return {
    family: undefined,
    table: "nat",
    chain,
    match,
    target: { kind: "redirect", port },
    why: `${what}, port ${port}`,
  };
}

function outputJump(): Rule[] {
  const why = "everything that leaves a process of the pod is looked at";
  const target = { kind: "jump", chain: "ISTIO_OUTPUT" } as const;
  return [{ family: undefined, table: "nat", chain: "OUTPUT", match: [], target, why }];
}
