/** Types and constants that all steps of a plan share. */
import type { Cidr } from "../../golang/net/mod.ts";
import type { CaptureSettings, PortRange } from "../settings/settings.ts";
import type { Family, Match, Rule, Target } from "./rule.ts";

export interface PlanContext {
  readonly settings: CaptureSettings;
  readonly families: readonly Family[];
  /** The block of addresses at which an application reaches its own pod. */
  readonly loopback: Readonly<Record<Family, Cidr>>;
  /** The DNS servers whose queries are captured. */
  readonly dns: "off" | "all" | readonly Cidr[];
}

export const TCP = { kind: "protocol", protocol: "tcp" } as const;
export const UDP = { kind: "protocol", protocol: "udp" } as const;
export const OUT_LO = { kind: "outInterface", name: "lo" } as const;
export const IN_LO = { kind: "inInterface", name: "lo" } as const;
export const RETURN = { kind: "return" } as const;
export const DNS_PORT = onePort(53);
/** The port on which the agent serves DNS. */
export const DNS_CAPTURE_PORT = 15053;

/** The source address of the proxy's connections to the application. */
export const PROXY_SOURCE: Readonly<Record<Family, Cidr>> = {
  4: { address: { family: 4, value: 0x7f000006n, zone: "" }, bits: 32 },
  6: { address: { family: 6, value: 6n, zone: "" }, bits: 128 },
};

/** Returns the range of a single port. */
export function onePort(port: number): PortRange {
  return { first: port, last: port };
}

export function jump(chain: string): Target {
  return { kind: "jump", chain };
}

/** Matches a destination port in any of the ranges. */
export function ports(...ranges: PortRange[]): Extract<Match, { kind: "sourcePorts" | "ports" }> {
  return { kind: "ports", ports: ranges };
}

type Place = Pick<Rule, "table" | "chain" | "insertAt"> & Partial<Pick<Rule, "family">>;

/** Returns a rule. If `place` has no family, the rule is for both families. `why` is the comment of the rule. */
export function rule({ family, ...place }: Place, match: readonly Match[], target: Target, why: string): Rule {
  const { table, chain, ...rest } = place;
  return { family, table, chain, match, target, why, ...rest };
}

export interface Owner {
  readonly kind: "uid" | "gid";
  readonly owner: string;
}

/** Returns the proxy's users, then its groups. */
export function proxyOwners({ settings }: PlanContext): Owner[] {
  return [
    ...settings.proxyUids.map((owner) => ({ kind: "uid", owner }) as const),
    ...settings.proxyGids.map((owner) => ({ kind: "gid", owner }) as const),
  ];
}

/** Sorts IPv4 blocks before IPv6 blocks. */
export function byFamily(cidrs: readonly Cidr[]): Cidr[] {
  return cidrs.toSorted((a, b) => a.address.family - b.address.family);
}
