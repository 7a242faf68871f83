/** The rule plan as data. */
import type { Cidr } from "../../golang/net/mod.ts";
import type { PortRange } from "../settings/settings.ts";

export type Family = 4 | 6;
export const FAMILIES: readonly Family[] = [4, 6];
export type Table = "nat" | "mangle" | "raw" | "filter";

/** A rule matches a packet if all its conditions do. */
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

/** The order of the conditions is their order in the text. */
export interface Rule {
  /** `undefined`: a rule for both families. */
  readonly family: Family | undefined;
  readonly table: Table;
  /** A built-in chain, or an owned one with the prefix `ISTIO_`. */
  readonly chain: string;
  /** The position in the chain, from 1; at the end if absent. */
  readonly insertAt?: number;
  readonly match: readonly Match[];
  readonly target: Target;
  readonly why: string;
}

/** A policy rule: packets with the mark use the routing table. */
export interface PolicyRule {
  readonly family: Family;
  readonly mark: number;
  readonly table: number;
}

export interface Plan {
  /** IPv4 always, IPv6 if the pod has such an address. */
  readonly families: readonly Family[];
  readonly rules: readonly Rule[];
  /** Each with the route `local default dev lo` in its table. */
  readonly policyRules: readonly PolicyRule[];
  /** Addresses to add to the loopback interface. */
  readonly loopbackAddresses: readonly Cidr[];
}

export const BUILT_IN_CHAINS: ReadonlySet<string> = new Set([
  "PREROUTING",
  "INPUT",
  "FORWARD",
  "OUTPUT",
  "POSTROUTING",
]);

/** The rules of a plan for a family. */
export function rulesOf(plan: Pick<Plan, "rules">, family: Family): Rule[] {
  return plan.rules.filter((rule) => rule.family === undefined || rule.family === family);
}
