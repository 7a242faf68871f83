/** Changes policy rules, routes and loopback addresses. */
import { cidrText } from "../../golang/net/mod.ts";
import * as routing from "../kernel/routing.ts";
import type { HeldRule, Verb } from "../kernel/routing.ts";
import { EEXIST, type SystemCalls, SystemError } from "../../platform/mod.ts";
import { PROXY_SOURCE } from "../plan/context.ts";
import { FAMILIES, type Family, type Plan, type PolicyRule } from "../plan/rule.ts";
import type { Step } from "./steps.ts";

/** Additions run before the rules change, removals after. */
export interface RoutingChanges {
  readonly additions: readonly Step[];
  readonly removals: readonly Step[];
}

/** Policy rules and routes of a family in the kernel that may be owned. */
interface HeldPolicy {
  readonly family: Family;
  /** Policy rules that match all bits of the packet mark. */
  readonly rules: readonly HeldRule[];
  /** Routing tables that contain the route `local default dev lo`. */
  readonly tables: ReadonlySet<number>;
}

/** Reads the policy rules and routes. A kernel without IPv6 has no policy rules and routes for IPv6. */
export function heldPolicies(system: SystemCalls): HeldPolicy[] {
  return FAMILIES.map((family) => ({
    family,
    rules: unlessAbsent(() => routing.markRules(system, family), []).filter(({ mask }) => mask === WHOLE_MARK),
    tables: new Set(unlessAbsent(() => routing.localDefaultTables(system, family), [])),
  }));
}

/** Returns the routing changes for a plan. `marks`: the packet marks that the owned rules in the kernel set. */
export function routingChanges(
  system: SystemCalls,
  plan: Pick<Plan, "policyRules" | "families"> | undefined,
  marks: ReadonlySet<number>,
): RoutingChanges {
  const parts = [
    ...heldPolicies(system).map((policy) => policyChanges(system, policy, plan?.policyRules ?? [], marks)),
    addressChanges(system, plan?.families.includes(6) === true),
  ];
  return {
    additions: parts.flatMap(({ additions }) => additions),
    removals: parts.flatMap(({ removals }) => removals),
  };
}

/**
 * Returns the changes of policy rules and routes. A policy rule is owned if the settings name it, if it is Istio's
 * default, or if owned rules set its mark and its table has `local default dev lo`.
 */
function policyChanges(
  system: SystemCalls,
  { family, rules, tables }: HeldPolicy,
  all: readonly PolicyRule[],
  marks: ReadonlySet<number>,
): RoutingChanges {
  const wanted = all.filter((rule) => rule.family === family);
  const isWanted = (held: PolicyRule) => wanted.some((rule) => isAlike(rule, held));
  const owned = rules.filter((held) =>
    isWanted(held) || isAlike(held, DEFAULT) || marks.has(held.mark) && tables.has(held.table)
  );
  const surplus = owned.filter((held, at) =>
    !isWanted(held) || owned.findLastIndex((other) => isAlike(other, held)) !== at
  );
  const missing = wanted.filter((rule) => !owned.some((held) => isAlike(held, rule)));
  const stale = [...tables].filter((table) =>
    !wanted.some((rule) => rule.table === table) &&
    (table === DEFAULT.table || surplus.some((rule) => rule.table === table))
  );
  const absent = [...new Set(wanted.map(({ table }) => table))].filter((table) => !tables.has(table));
  const route = (verb: Verb) => (table: number) =>
    ipStep(
      verb,
      ["route", `local default dev lo table ${table}`],
      family,
      (verb) => routing.changeLocalDefault(system, verb, family, table),
    );
  const rule = (verb: Verb) => (changed: PolicyRule & { readonly priority?: number }) => {
    const { mark, table, priority } = changed;
    const place = priority === undefined ? "" : ` priority ${priority}`;
    return ipStep(
      verb,
      ["rule", `fwmark ${mark} lookup ${table}${place}`],
      family,
      (verb) => routing.changeMarkRule(system, verb, changed),
    );
  };
  return {
    additions: [...absent.map(route("add")), ...missing.map(rule("add"))],
    removals: [...surplus.map(rule("del")), ...stale.map(route("del"))],
  };
}

const WHOLE_MARK = 0xffffffff;
/** Default values of `--istio-inbound-tproxy-mark` and `--istio-inbound-tproxy-route-table`. */
const DEFAULT = { mark: 1337, table: 133 } as const;

/** Whether two policy rules of a family have the same mark and table. */
function isAlike(a: Pick<PolicyRule, "mark" | "table">, b: Pick<PolicyRule, "mark" | "table">): boolean {
  return a.mark === b.mark && a.table === b.table;
}

function addressChanges(system: SystemCalls, isWanted: boolean): RoutingChanges {
  const cidr = PROXY_SOURCE[6];
  const isHeld = unlessAbsent(() => routing.hasLoopbackAddress(system, cidr), false);
  const change = (verb: Verb) => {
    try {
      routing.changeAddress(system, verb, { cidr });
    } catch (error) {
      // EEXIST: the interface has the address with another prefix length, which works as well. Istio also ignores this
      // error.
      if (!(error instanceof SystemError && error.errno === EEXIST)) throw error;
    }
  };
  const step = (verb: Verb) => ipStep(verb, ["addr", `${cidrText(cidr)} dev lo`], 6, change);
  return {
    additions: isWanted && !isHeld ? [step("add")] : [],
    removals: isHeld && !isWanted ? [step("del")] : [],
  };
}

/** Returns the result of `read`, or `absent` on a kernel without IPv6. */
function unlessAbsent<T>(read: () => T, absent: T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof SystemError) return absent;
    throw error;
  }
}

/**
 * Returns the step for a command such as `ip rule add REST`. Its rollback does the opposite, and ignores kernel errors,
 * because the step may not have run.
 */
function ipStep(
  verb: Verb,
  [object, rest]: readonly [object: string, rest: string],
  family: Family,
  change: (verb: Verb) => void,
): Step {
  return {
    what: [`${family === 6 ? "ip -6" : "ip"} ${object} ${verb} ${rest}`],
    run: () => change(verb),
    undo: () => unlessAbsent(() => change(verb === "add" ? "del" : "add"), undefined),
  };
}
