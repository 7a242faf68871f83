/** Policy rules, routes and addresses: from what is held to what the plan wants. */
import type { Cidr } from "../../core/net.ts";
import * as routing from "../kernel/routing.ts";
import type { HeldRule } from "../kernel/routing.ts";
import { type SystemCalls, SystemError } from "../../core/world/mod.ts";
import type { Family, PolicyRule } from "../plan/rule.ts";
import type { Step } from "./steps.ts";

/** What routing should be like. */
export interface WantedRouting {
  readonly policyRules: readonly PolicyRule[];
  readonly loopbackAddresses: readonly Cidr[];
}

const FAMILIES: readonly Family[] = [4, 6];
const OUR_ADDRESS: Cidr = { address: { family: 6, value: 6n, zone: "" }, bits: 128 };

/** What is added before the rules that need it, and what is taken away behind those that needed it. */
export interface RoutingChanges {
  readonly additions: readonly Step[];
  readonly removals: readonly Step[];
}

/** What the kernel holds of the kinds that may be ours. */
export interface HeldRouting {
  readonly families: readonly HeldPolicy[];
  readonly hasAddress: boolean;
}

interface HeldPolicy {
  readonly family: Family;
  /** Policy rules for a whole mark. */
  readonly rules: readonly HeldRule[];
  /** Routing tables that deliver everything here. */
  readonly tables: ReadonlySet<number>;
}

/** Reads what is held; nothing is changed. */
export function heldRouting(system: SystemCalls): HeldRouting {
  const families = FAMILIES.map((family) => ({
    family,
    rules: unlessAbsent(() => routing.markRules(system, family)).filter(({ mask }) => mask === WHOLE_MARK),
    tables: new Set(unlessAbsent(() => routing.localDefaultTables(system, family))),
  }));
  const addresses = unlessAbsent(() => routing.hasLoopbackAddress(system, OUR_ADDRESS) ? [true] : []);
  return { families, hasAddress: addresses.length > 0 };
}

/** The steps from what is held to what is wanted; none if nothing differs. `marks` are those that rules of ours set until now. */
export function routingChanges(
  system: SystemCalls,
  held: HeldRouting,
  wanted: WantedRouting,
  marks: ReadonlySet<number>,
): RoutingChanges {
  const parts = [
    ...held.families.map((policy) => policyChanges(system, policy, wanted.policyRules, marks)),
    addressChanges(system, held.hasAddress, wanted),
  ];
  return {
    additions: parts.flatMap(({ additions }) => additions),
    removals: parts.flatMap(({ removals }) => removals),
  };
}

/**
 * A rule for a whole mark is ours if the settings name it, if it is Istio's default, or if rules of ours set the mark and
 * its table delivers everything here.
 */
function policyChanges(
  system: SystemCalls,
  { family, rules, tables }: HeldPolicy,
  all: readonly PolicyRule[],
  marks: ReadonlySet<number>,
): RoutingChanges {
  const wanted = all.filter((rule) => rule.family === family);
  const isWanted = (held: PolicyRule) => wanted.some(({ mark, table }) => mark === held.mark && table === held.table);
  const isDefault = ({ mark, table }: PolicyRule) => mark === DEFAULT.mark && table === DEFAULT.table;
  const ours = rules.filter((held) =>
    isWanted(held) || isDefault(held) || marks.has(held.mark) && tables.has(held.table)
  );
  const surplus = ours.filter((held, at) =>
    !isWanted(held) || ours.findLastIndex((other) => other.mark === held.mark && other.table === held.table) !== at
  );
  const missing = wanted.filter((rule) => !ours.some(({ mark, table }) => mark === rule.mark && table === rule.table));
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

/** Istio's mark and table: what `--istio-inbound-tproxy-mark` and `-route-table` are when they are not given. */
const WHOLE_MARK = 0xffffffff;
const DEFAULT = { mark: 1337, table: 133 } as const;

function routeStep(system: SystemCalls, family: Family, table: number, isAdded: boolean): Step {
  const add = () => routing.addLocalDefault(system, family, table);
  const remove = () => routing.deleteLocalDefault(system, family, table);
  const text = `${familyOption(family)}route ${isAdded ? "add" : "del"} local default dev lo table ${table}`;
  return { what: `ip ${text}`, run: isAdded ? add : remove, undo: ignoringAbsence(isAdded ? remove : add) };
}

function addRuleStep(system: SystemCalls, rule: PolicyRule): Step {
  return {
    what: `ip ${familyOption(rule.family)}rule add fwmark ${rule.mark} lookup ${rule.table}`,
    run: () => routing.addMarkRule(system, rule),
    undo: ignoringAbsence(() =>
      routing.markRules(system, rule.family).filter(({ mark, table }) => mark === rule.mark && table === rule.table)
        .forEach((held) => routing.deleteMarkRule(system, held))
    ),
  };
}

function deleteRuleStep(system: SystemCalls, rule: HeldRule): Step {
  return {
    what: `ip ${familyOption(rule.family)}rule del fwmark ${rule.mark} lookup ${rule.table} priority ${rule.priority}`,
    run: () => routing.deleteMarkRule(system, rule),
    undo: ignoringAbsence(() => routing.addMarkRule(system, rule)),
  };
}

function addressChanges(
  system: SystemCalls,
  isHeld: boolean,
  { loopbackAddresses }: WantedRouting,
): RoutingChanges {
  const isWanted = loopbackAddresses.length > 0;
  if (isWanted === isHeld) return { additions: [], removals: [] };
  const add = () => routing.addLoopbackAddress(system, OUR_ADDRESS);
  const remove = () => routing.deleteLoopbackAddress(system, OUR_ADDRESS);
  const what = `ip -6 addr ${isWanted ? "add" : "del"} ::6/128 dev lo`;
  const step = { what, run: isWanted ? add : remove, undo: ignoringAbsence(isWanted ? remove : add) };
  return isWanted ? { additions: [step], removals: [] } : { additions: [], removals: [step] };
}

/** A kernel without IPv6 holds nothing of it. */
function unlessAbsent<T>(read: () => T[]): T[] {
  try {
    return read();
  } catch (error) {
    if (error instanceof SystemError) return [];
    throw error;
  }
}

/** To take a step back is done when there is nothing to take back. */
function ignoringAbsence(action: () => void): () => void {
  return () => {
    try {
      action();
    } catch (error) {
      if (!(error instanceof SystemError)) throw error;
    }
  };
}

function familyOption(family: Family): string {
  return family === 6 ? "-6 " : "";
}
