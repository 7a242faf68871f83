/** Reads and changes policy rules, routes and loopback addresses of a network namespace (rtnetlink(7)). */
import { addressBytes, type Cidr } from "../../golang/net/mod.ts";
import type { Family, PolicyRule } from "../plan/rule.ts";
import { askRoute, type Attribute, CREATE, FAMILY_NUMBERS, FLAGS, numberOf, u32 } from "./netlink.ts";
import type { SystemCalls } from "../../platform/mod.ts";

const MESSAGE = {
  newAddress: 20,
  deleteAddress: 21,
  getAddress: 22,
  newRoute: 24,
  deleteRoute: 25,
  getRoute: 26,
  newRule: 32,
  deleteRule: 33,
  getRule: 34,
} as const;
const RULE = { priority: 6, mark: 10, table: 15, mask: 16 } as const;
const ROUTE = { interface: 4, table: 15 } as const;
const ADDRESS = { address: 1, local: 2 } as const;
const ACTION_TO_TABLE = 1;
const LOCAL = 2;
const SCOPE_HOST = 254;
const PROTOCOL_BOOT = 3;
/** The index of the loopback interface, which is always the first interface of a network namespace. */
const LOOPBACK_INDEX = 1;

export interface HeldRule extends PolicyRule {
  readonly priority: number;
  readonly mask: number;
}

/** Lists all policy rules of a family that match a packet mark. */
export function markRules(system: SystemCalls, family: Family): HeldRule[] {
  return askRoute(system, { type: MESSAGE.getRule, flags: FLAGS.dump, header: ruleHeader(family) })
    .flatMap(({ header, attributes }) => {
      const mark = numberOf(attributes.get(RULE.mark), 0);
      if (mark === 0 || header.getUint8(7) !== ACTION_TO_TABLE) return [];
      const table = numberOf(attributes.get(RULE.table), header.getUint8(4));
      const priority = numberOf(attributes.get(RULE.priority), 0);
      return [{ family, mark, table, priority, mask: numberOf(attributes.get(RULE.mask), 0xffffffff) }];
    });
}

/** A command of ip(8). */
export type Verb = "add" | "del";
const MESSAGE_FLAGS: Readonly<Record<Verb, number>> = { add: CREATE, del: FLAGS.ack };

/** Does the same as `ip rule add|del fwmark MARK lookup TABLE priority PRIORITY`. `del` deletes a single rule. */
export function changeMarkRule(
  system: SystemCalls,
  verb: Verb,
  { family, mark, table, priority }: PolicyRule & { readonly priority?: number },
): void {
  const place: Attribute[] = priority === undefined ? [] : [[RULE.priority, u32(priority)]];
  const attributes: Attribute[] = [[RULE.mark, u32(mark)], [RULE.table, u32(table)], ...place];
  const type = verb === "add" ? MESSAGE.newRule : MESSAGE.deleteRule;
  askRoute(system, { type, flags: MESSAGE_FLAGS[verb], header: ruleHeader(family), attributes });
}

function ruleHeader(family: Family): Uint8Array {
  return Uint8Array.of(FAMILY_NUMBERS[family], 0, 0, 0, 0, 0, 0, ACTION_TO_TABLE, 0, 0, 0, 0);
}

/** Lists the routing tables of a family that contain the route `local default dev lo`. */
export function localDefaultTables(system: SystemCalls, family: Family): number[] {
  return askRoute(system, { type: MESSAGE.getRoute, flags: FLAGS.dump, header: routeHeader(family) })
    .filter(({ header, attributes }) =>
      header.getUint8(1) === 0 && header.getUint8(7) === LOCAL &&
      numberOf(attributes.get(ROUTE.interface), 0) === LOOPBACK_INDEX
    )
    .map(({ header, attributes }) => numberOf(attributes.get(ROUTE.table), header.getUint8(4)));
}

/** Does the same as `ip route add|del local default dev lo table TABLE`. */
export function changeLocalDefault(system: SystemCalls, verb: Verb, family: Family, table: number): void {
  const attributes: Attribute[] = [[ROUTE.table, u32(table)], [ROUTE.interface, u32(LOOPBACK_INDEX)]];
  const type = verb === "add" ? MESSAGE.newRoute : MESSAGE.deleteRoute;
  askRoute(system, { type, flags: MESSAGE_FLAGS[verb], header: routeHeader(family), attributes });
}

function routeHeader(family: Family): Uint8Array {
  return Uint8Array.of(FAMILY_NUMBERS[family], 0, 0, 0, 0, PROTOCOL_BOOT, SCOPE_HOST, LOCAL, 0, 0, 0, 0);
}

interface InterfaceAddress {
  /** The index of the interface; by default, of the loopback interface. */
  readonly index?: number;
  readonly cidr: Cidr;
  /** Address flags (IFA_F_*). */
  readonly flags?: number;
}

/** Adds an address to an interface, or removes it. Throws a `SystemError` if the kernel refuses that. */
export function changeAddress(
  system: SystemCalls,
  verb: Verb,
  { index = LOOPBACK_INDEX, cidr: { address, bits }, flags = 0 }: InterfaceAddress,
): void {
  const header = Uint8Array.of(FAMILY_NUMBERS[address.family], bits, flags, 0, ...u32(index));
  const bytes = addressBytes(address);
  const attributes: Attribute[] = [[ADDRESS.local, bytes], [ADDRESS.address, bytes]];
  const type = verb === "add" ? MESSAGE.newAddress : MESSAGE.deleteAddress;
  askRoute(system, { type, flags: MESSAGE_FLAGS[verb], header, attributes });
}

/** Whether the loopback interface has an address such as `::6/128`. */
export function hasLoopbackAddress(system: SystemCalls, { address, bits }: Cidr): boolean {
  const header = new Uint8Array([FAMILY_NUMBERS[address.family], 0, 0, 0, 0, 0, 0, 0]);
  const wanted = addressBytes(address).join();
  return askRoute(system, { type: MESSAGE.getAddress, flags: FLAGS.dump, header })
    .some(({ header: held, attributes }) =>
      held.getUint32(4, true) === LOOPBACK_INDEX && held.getUint8(1) === bits &&
      attributes.get(ADDRESS.address)?.join() === wanted
    );
}
