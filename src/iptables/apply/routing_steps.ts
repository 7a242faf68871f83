/** Changes policy rules, routes and loopback addresses. */
import * as routing from "../kernel/routing.ts";
import type { HeldRule } from "../kernel/routing.ts";
import { type SystemCalls, SystemError } from "../../platform/mod.ts";
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

/** Reads the policy rules and routes. A kernel without IPv6 has none for it. */
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
  return {
    additions: [
      ...absent.map((table) => routeStep(system, family, table, true)),
      ...missing.map((rule) => addRuleStep(system, rule)),
    ],
    removals: [
      ...surplus.map((rule) => deleteRuleStep(system, rule)),
      ...stale.map((table) => routeStep(system, family, table, false)),
    ],
  };
}

const WHOLE_MARK = 0xffffffff;
/** Default values of `--istio-inbound-tproxy-mark` and `--istio-inbound-tproxy-route-table`. */
const DEFAULT = { mark: 1337, table: 133 } as const;

/** Whether two policy rules of a family have the same mark and table. */
function isAlike(a: Pick<PolicyRule, "mark" | "table">, b: Pick<PolicyRule, "mark" | "table">): boolean {
  return a.mark === b.mark && a.table === b.table;
}

function routeStep(system: SystemCalls, family: Family, table: number, isAdded: boolean): Step {
  const add = () => routing.addLocalDefault(system, family, table);
  const remove = () => routing.deleteLocalDefault(system, family, table);
  const what = `${ip(family)} route ${isAdded ? "add" : "del"} local default dev lo table ${table}`;
  return isAdded ? step(what, add, remove) : step(what, remove, add);
}

function addRuleStep(system: SystemCalls, rule: PolicyRule): Step {
  const alike = () => routing.markRules(system, rule.family).filter((held) => isAlike(held, rule));
  return step(
    `${ip(rule.family)} rule add fwmark ${rule.mark} lookup ${rule.table}`,
    () => routing.addMarkRule(system, rule),
    () => alike().forEach((held) => routing.deleteMarkRule(system, held)),
  );
}

function deleteRuleStep(system: SystemCalls, rule: HeldRule): Step {
  const { family, mark, table, priority } = rule;
  return step(
    `${ip(family)} rule del fwmark ${mark} lookup ${table} priority ${priority}`,
    () => routing.deleteMarkRule(system, rule),
    () => routing.addMarkRule(system, rule),
  );
}

function addressChanges(system: SystemCalls, isWanted: boolean): RoutingChanges {
  const own = PROXY_SOURCE[6];
  if (isWanted === unlessAbsent(() => routing.hasLoopbackAddress(system, own), false)) {
    return { additions: [], removals: [] };
  }
  const add = () => routing.addLoopbackAddress(system, own);
  const remove = () => routing.deleteLoopbackAddress(system, own);
  return isWanted
    ? { additions: [step("ip -6 addr add ::6/128 dev lo", add, remove)], removals: [] }
    : { additions: [], removals: [step("ip -6 addr del ::6/128 dev lo", remove, add)] };
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

/** A step whose rollback ignores kernel errors, because the step may not have run. */
function step(what: string, run: () => void, undo: () => void): Step {
  return {
    what: [what],
    run,
    undo() {
      try {
        undo();
      } catch (error) {
        if (!(error instanceof SystemError)) throw error;
      }
    },
  };
}

function ip(family: Family): string {
  return family === 6 ? "ip -6" : "ip";
}
