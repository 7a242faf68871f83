/** The plan of the rules and the routing, as data. */
import type { Cidr } from "../../golang/net/mod.ts";
import type { PortRange } from "../settings/settings.ts";

export type Family = 4 | 6;
export const FAMILIES: readonly Family[] = [4, 6];
/** The families of tables in nf_tables. */
export const TABLE_FAMILY = { 4: "ip", 6: "ip6" } as const;
/** The tables that can contain owned rules: all except `security`. */
export const TABLES = ["nat", "mangle", "raw", "filter"] as const;
export type Table = typeof TABLES[number];

/** A condition of a rule. A rule matches a packet if all its conditions hold. */
export type Match =
  | { readonly kind: "inInterface" | "outInterface"; readonly name: string }
  | { readonly kind: "source" | "destination"; readonly cidr: Cidr; readonly negated?: true }
  | { readonly kind: "protocol"; readonly protocol: "tcp" | "udp" }
  | { readonly kind: "sourcePorts" | "ports"; readonly ports: readonly PortRange[]; readonly negated?: true }
  | { readonly kind: "uid" | "gid"; readonly owner: string; readonly negated?: true }
  | { readonly kind: "mark"; readonly mark: number; readonly negated?: true }
  | { readonly kind: "connectionMark"; readonly mark: number }
  | { readonly kind: "connectionState"; readonly states: readonly string[] };

export type Target =
  | { readonly kind: "jump"; readonly chain: string }
  | { readonly kind: "return" | "accept" | "drop" }
  | { readonly kind: "saveMark" | "restoreMark" }
  | { readonly kind: "redirect"; readonly port: number }
  | { readonly kind: "tproxy"; readonly port: number; readonly mark: number }
  | { readonly kind: "setMark"; readonly mark: number }
  | { readonly kind: "zone"; readonly zone: number };

/** A planned rule. The order of the conditions is their order in the printed rule. */
export interface Rule {
  /** The address family; `undefined` for both families. */
  readonly family: Family | undefined;
  readonly table: Table;
  /** A built-in chain, or an owned chain with the prefix `ISTIO_`. */
  readonly chain: string;
  /** The position in the chain, from 1. If absent, the rule is appended. */
  readonly insertAt?: number;
  readonly match: readonly Match[];
  readonly target: Target;
  readonly why: string;
}

/** A policy rule, which sends packets with the mark to the routing table. */
export interface PolicyRule {
  readonly family: Family;
  readonly mark: number;
  readonly table: number;
}

export interface Plan {
  /**
   * The families to capture: always IPv4, and IPv6 if the pod has IPv6. For IPv6, the loopback interface needs `::6`.
   */
  readonly families: readonly Family[];
  readonly rules: readonly Rule[];
  /** The policy rules. The routing table of each contains the route `local default dev lo`. */
  readonly policyRules: readonly PolicyRule[];
}

/** The built-in chains, in the order of their hooks in the kernel (NF_INET_*). */
const BUILT_IN_CHAINS: readonly string[] = ["PREROUTING", "INPUT", "FORWARD", "OUTPUT", "POSTROUTING"];

export function isBuiltIn(chain: string): boolean {
  return BUILT_IN_CHAINS.includes(chain);
}

const PRIORITIES: Readonly<Record<Table, number>> = { raw: -300, mangle: -150, nat: -100, filter: 0 };

/** Returns type, hook and priority of a built-in chain, as in iptables-nft(8); `undefined` for other chains. */
export function baseChain(table: Table, chain: string) {
  if (!isBuiltIn(chain)) return undefined;
  const type = table === "nat" ? "nat" : table === "mangle" && chain === "OUTPUT" ? "route" : "filter";
  return { type, hook: BUILT_IN_CHAINS.indexOf(chain), priority: PRIORITIES[table] };
}

/** Returns the rules of a plan for an address family. */
export function rulesOf(plan: Pick<Plan, "rules">, family: Family): Rule[] {
  return plan.rules.filter((rule) => rule.family === undefined || rule.family === family);
}
