/** A rule plan: what should lie in the kernel, as data that every view and every comparison reads. */
import type { Cidr } from "../../core/net.ts";

export type Family = 4 | 6;
export type Table = "nat" | "mangle" | "raw" | "filter";

/** Ports from `first` to `last`, both included; one port has both the same. */
export interface PortRange {
  readonly first: number;
  readonly last: number;
}

/** A condition of a rule. A rule holds for a packet for which all of its conditions hold. */
export type Match =
  | { readonly kind: "inInterface" | "outInterface"; readonly name: string }
  | { readonly kind: "source" | "destination"; readonly cidr: Cidr; readonly negated?: true }
  | { readonly kind: "protocol"; readonly protocol: "tcp" | "udp" }
  | { readonly kind: "sourcePorts" | "ports"; readonly ports: readonly PortRange[]; readonly negated?: true }
  | { readonly kind: "uid" | "gid"; readonly owner: string; readonly negated?: true }
  | { readonly kind: "mark"; readonly mark: number; readonly negated?: true }
  | { readonly kind: "connectionMark"; readonly mark: number }
  | { readonly kind: "connectionState"; readonly states: readonly string[] };

/** What happens to a packet that a rule holds for. */
export type Target =
  | { readonly kind: "jump"; readonly chain: string }
  | { readonly kind: "return" | "accept" | "drop" | "saveMark" | "restoreMark" }
  | { readonly kind: "redirect"; readonly port: number }
  | { readonly kind: "tproxy"; readonly port: number; readonly mark: number }
  | { readonly kind: "setMark"; readonly mark: number }
  | { readonly kind: "zone"; readonly zone: number };

/** One rule. The order of the conditions is the one in which they are written. */
export interface Rule {
  /** `undefined`: the same rule serves both families. */
  readonly family: Family | undefined;
  readonly table: Table;
  /** Built-in chains in capitals, ours as `ISTIO_...`. */
  readonly chain: string;
  /** Where it goes: at the end, or before the rule that is the n-th then (from 1). */
  readonly insertAt?: number;
  readonly match: readonly Match[];
  readonly target: Target;
  /** What it is there for, in words. */
  readonly why: string;
}

/** A policy rule: packets with the mark are routed by the table. */
export interface PolicyRule {
  readonly family: Family;
  readonly mark: number;
  readonly table: number;
}

/** What should be in a network namespace. */
export interface Plan {
  /** IPv4 always, IPv6 if the pod has such an address. */
  readonly families: readonly Family[];
  readonly rules: readonly Rule[];
  /** Each stands for the rule and for `local default dev lo` in its table. */
  readonly policyRules: readonly PolicyRule[];
  /** Addresses that the loopback interface is given. */
  readonly loopbackAddresses: readonly Cidr[];
}

/** Names of the chains that the kernel has by itself. */
export const BUILT_IN_CHAINS: ReadonlySet<string> = new Set([
  "PREROUTING",
  "INPUT",
  "FORWARD",
  "OUTPUT",
  "POSTROUTING",
]);

/** The rules of a plan that a family gets. */
export function rulesOf(plan: Pick<Plan, "rules">, family: Family): Rule[] {
  return plan.rules.filter((rule) => rule.family === undefined || rule.family === family);
}
