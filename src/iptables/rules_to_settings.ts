/**
 * Recovers the settings from the owned rules. Also reads chains to which no rule jumps. The verification then expects
 * the flows of these chains to be captured, and reports that they escape.
 */
import { type Cidr, parseCidr } from "../golang/net/mod.ts";
import type { Table } from "./plan/rule.ts";
import type { CaptureSettings, PortRange } from "./settings/settings.ts";
import { readPorts, Wrong } from "./settings/values.ts";
import type { HeldRule } from "./apply/survey.ts";

/**
 * Recovers the settings. Settings that no rule shows come from `base`. `tables` maps each packet mark to its routing
 * table.
 */
export function heldSettings(
  rules: readonly HeldRule[],
  tables: ReadonlyMap<number, number>,
  base: CaptureSettings,
): CaptureSettings {
  const nat = new Chains(rules, "nat");
  const mangle = new Chains(rules, "mangle");
  const inbound = inboundSettings(nat, mangle, base);
  return {
    ...base,
    ...inbound,
    routeTable: tables.get(inbound.mark) ?? base.routeTable,
    ...outboundSettings(nat, base),
    ...ownerSettings(nat, base),
    ...interfaceSettings(nat),
    ...dnsSettings(nat),
    dropInvalid: mangle.some("PREROUTING", "ISTIO_DROP"),
    dualStack: rules.some(({ family, table }) => family === 6 && table === "nat"),
  };
}

/** Looks up owned rules by chain, without duplicates: most rules exist in both families. */
class Chains {
  constructor(private readonly rules: readonly HeldRule[], private readonly table: Table) {}

  /** Returns the rules with this target and exactly these options. */
  of(chain: string, target: string, names: readonly string[]): HeldRule["options"][] {
    const wanted = [...names, "j"].sort().join();
    return this.inChain(chain, target).filter((options) => {
      return [...options.keys()].filter((name) => name !== "comment").map(plainName).sort().join() === wanted;
    });
  }

  values(chain: string, target: string, names: readonly string[], option: string): string[] {
    return [...new Set(this.of(chain, target, names).map((options) => valueOf(options, option)))];
  }

  some(chain: string, target: string): boolean {
    return this.inChain(chain, target).length > 0;
  }

  inChain(chain: string, target: string): HeldRule["options"][] {
    return this.rules.filter((rule) =>
      rule.table === this.table && rule.chain === chain && rule.options.get("j") === target
    ).map(({ options }) => options);
  }
}

/** Maps `--dports`, which iptables uses for a list of ports, to `--dport`. */
function plainName(name: string): string {
  return name === "dports" ? "dport" : name;
}

function valueOf(options: HeldRule["options"], name: string): string {
  return options.get(name) ?? options.get(`${name}s`) ?? "";
}

const PORT = ["p", "dport"] as const;

type Inbound = Pick<
  CaptureSettings,
  "proxyPort" | "inboundPort" | "tunnelPort" | "mode" | "mark" | "inboundPorts" | "inboundPortsExclude"
>;

function inboundSettings(nat: Chains, mangle: Chains, base: CaptureSettings): Inbound {
  const [transparent] = mangle.inChain("ISTIO_TPROXY", "TPROXY");
  const [redirect] = nat.inChain("ISTIO_IN_REDIRECT", "REDIRECT");
  const [tunnel, ...excluded] = portsOf(nat.values("ISTIO_INBOUND", "RETURN", PORT, "dport"));
  const [chains, target] = transparent === undefined
    ? [nat, "ISTIO_IN_REDIRECT"] as const
    : [mangle, "ISTIO_TPROXY"] as const;
  return {
    proxyPort: numberOf(nat.inChain("ISTIO_REDIRECT", "REDIRECT")[0]?.get("to-ports"), base.proxyPort),
    inboundPort: numberOf(transparent?.get("on-port") ?? redirect?.get("to-ports"), base.inboundPort),
    tunnelPort: tunnel?.first ?? base.tunnelPort,
    mode: transparent === undefined ? "REDIRECT" : "TPROXY",
    mark: numberOf(transparent?.get("tproxy-mark")?.split("/")[0], base.mark),
    inboundPorts: chains.of("ISTIO_INBOUND", target, ["p"]).length > 0
      ? "*"
      : portsOf(chains.values("ISTIO_INBOUND", target, PORT, "dport")),
    inboundPortsExclude: transparent === undefined
      ? excluded
      : portsOf(mangle.values("ISTIO_INBOUND", "RETURN", PORT, "dport")),
  };
}

type Outbound = Pick<
  CaptureSettings,
  "outboundCidrs" | "outboundCidrsExclude" | "outboundPorts" | "outboundPortsExclude" | "loopbackCidr"
>;

/** Reads the outbound settings. The IPv4 loopback block is the first uncaptured block; the IPv6 one is always `::1`. */
function outboundSettings(nat: Chains, base: CaptureSettings): Outbound {
  const passed = cidrsOf(nat.values("ISTIO_OUTPUT", "RETURN", ["d"], "d"));
  const loopback = passed.find(({ address }) => address.family === 4) ?? base.loopbackCidr;
  const isLoopback = (cidr: Cidr) => cidr === loopback || cidr.address.family === 6 && cidr.address.value === 1n;
  return {
    loopbackCidr: loopback,
    outboundCidrsExclude: passed.filter((cidr) => !isLoopback(cidr)),
    outboundCidrs: nat.of("ISTIO_OUTPUT", "ISTIO_REDIRECT", []).length > 0
      ? "*"
      : cidrsOf(nat.values("ISTIO_OUTPUT", "ISTIO_REDIRECT", ["d"], "d")),
    outboundPorts: portsOf(nat.values("ISTIO_OUTPUT", "ISTIO_REDIRECT", PORT, "dport")),
    outboundPortsExclude: portsOf(
      nat.of("ISTIO_OUTPUT", "RETURN", PORT).filter((options) => options.get("p") === "tcp")
        .map((options) => valueOf(options, "dport")),
    ),
  };
}

type Owners = Pick<
  CaptureSettings,
  "proxyUids" | "proxyGids" | "excludeUids" | "ownerGroups" | "ownerGroupsExclude" | "excludePortsForUids"
>;

/**
 * Reads users and groups. Only the proxy's users and groups have rules that treat calls to their own pod as inbound.
 */
function ownerSettings(nat: Chains, base: CaptureSettings): Owners {
  const owners = (option: string) => {
    const callers = nat.inChain("ISTIO_OUTPUT", "ISTIO_IN_REDIRECT").flatMap((options) => options.get(option) ?? []);
    const proxy = [...new Set(callers)];
    const passed = nat.values("ISTIO_OUTPUT", "RETURN", [option], option);
    return {
      proxy,
      others: passed.filter((owner) => !owner.startsWith("!") && !proxy.includes(owner)),
      only: passed.filter((owner) => owner.startsWith("!")).map((owner) => owner.slice(1)),
    };
  };
  const [users, groups] = [owners("uid-owner"), owners("gid-owner")];
  return {
    proxyUids: users.proxy.length > 0 ? users.proxy : base.proxyUids,
    proxyGids: groups.proxy.length > 0 ? groups.proxy : base.proxyGids,
    excludeUids: users.others,
    ownerGroups: groups.only.length > 0 ? groups.only : "*",
    ownerGroupsExclude: groups.others,
    excludePortsForUids: [[...PORT, "uid-owner"], ["p", "uid-owner"]].flatMap((names) =>
      nat.of("ISTIO_OUTPUT", "RETURN", names).map((options) => ({
        protocol: options.get("p") === "udp" ? "udp" as const : "tcp" as const,
        ports: names.includes("dport") ? portsOf([valueOf(options, "dport")]) : "*" as const,
        uids: [valueOf(options, "uid-owner")],
      }))
    ),
  };
}

function interfaceSettings(nat: Chains): Pick<CaptureSettings, "excludeInterfaces" | "virtualInterfaces"> {
  const captured = nat.inChain("PREROUTING", "ISTIO_REDIRECT").flatMap((options) => options.get("i") ?? []);
  return {
    excludeInterfaces: nat.values("OUTPUT", "RETURN", ["o"], "o").filter((name) => name !== "lo"),
    // The order is reversed, because each rule was inserted before the earlier rules.
    virtualInterfaces: [...new Set(captured)].toReversed(),
  };
}

/** Reads the DNS settings. Until Istio 1.24, these rules were in a built-in chain. */
function dnsSettings(nat: Chains): Pick<CaptureSettings, "redirectDns" | "captureAllDns"> {
  const queries = ["ISTIO_OUTPUT_DNS", "OUTPUT"].flatMap((chain) => nat.inChain(chain, "REDIRECT"));
  return { redirectDns: queries.length > 0, captureAllDns: queries.some((options) => !options.has("d")) };
}

function portsOf(texts: readonly string[]): PortRange[] {
  const ports = readPorts([...new Set(texts)].join());
  return ports instanceof Wrong ? [] : ports;
}

function cidrsOf(texts: readonly string[]): Cidr[] {
  return texts.map(parseCidr).filter((cidr) => typeof cidr !== "string");
}

function numberOf(text: string | undefined, otherwise: number): number {
  const number = Number(text ?? NaN);
  return Number.isInteger(number) && number > 0 ? number : otherwise;
}
