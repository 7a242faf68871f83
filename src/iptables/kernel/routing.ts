/** Policy rules, routes and loopback addresses of a network namespace (rtnetlink(7)). */
import type { Cidr } from "../../core/net.ts";
import type { Family, PolicyRule } from "../plan/rule.ts";
import { ask, type Attribute, FLAGS, NETLINK_ROUTE, numberOf, u32 } from "./netlink.ts";
import { EEXIST, type SystemCalls, SystemError } from "../../core/world/mod.ts";

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
const FAMILY_NUMBERS: Readonly<Record<Family, number>> = { 4: 2, 6: 10 };
const ACTION_TO_TABLE = 1;
const LOCAL = 2;
const SCOPE_HOST = 254;
const PROTOCOL_BOOT = 3;
const CREATE = FLAGS.ack | FLAGS.create | FLAGS.exclusive;
/** The loopback interface is the first of every network namespace. */
const LOOPBACK_INDEX = 1;

/** A policy rule in the kernel. */
export interface HeldRule extends PolicyRule {
  readonly priority: number;
  readonly mask: number;
}

/** All policy rules of a family that look at the packet's mark. */
export function markRules(system: SystemCalls, family: Family): HeldRule[] {
  return ask(system, { protocol: NETLINK_ROUTE, type: MESSAGE.getRule, flags: FLAGS.dump, header: ruleHeader(family) })
    .flatMap(({ header, attributes }) => {
      const mark = numberOf(attributes.get(RULE.mark), 0);
      if (mark === 0 || header.getUint8(7) !== ACTION_TO_TABLE) return [];
      const table = numberOf(attributes.get(RULE.table), header.getUint8(4));
      const priority = numberOf(attributes.get(RULE.priority), 0);
      return [{ family, mark, table, priority, mask: numberOf(attributes.get(RULE.mask), 0xffffffff) }];
    });
}

/** `ip rule add fwmark MARK lookup TABLE`, at a given priority if it is to be where one was. */
export function addMarkRule(system: SystemCalls, rule: PolicyRule & { readonly priority?: number }): void {
  const flags = FLAGS.ack | FLAGS.create | FLAGS.exclusive;
  ask(system, {
    protocol: NETLINK_ROUTE,
    type: MESSAGE.newRule,
    flags,
    header: ruleHeader(rule.family),
    attributes: ruleAttributes(rule),
  });
}

/** `ip rule del fwmark MARK lookup TABLE priority PRIORITY`: one rule, if there are several alike. */
export function deleteMarkRule(system: SystemCalls, rule: HeldRule): void {
  const attributes = ruleAttributes(rule);
  ask(system, {
    protocol: NETLINK_ROUTE,
    type: MESSAGE.deleteRule,
    flags: FLAGS.ack,
    header: ruleHeader(rule.family),
    attributes,
  });
}

function ruleHeader(family: Family): Uint8Array {
  return Uint8Array.of(FAMILY_NUMBERS[family], 0, 0, 0, 0, 0, 0, ACTION_TO_TABLE, 0, 0, 0, 0);
}

function ruleAttributes(rule: PolicyRule & { readonly priority?: number }): Attribute[] {
  const priority: Attribute[] = rule.priority === undefined ? [] : [[RULE.priority, u32(rule.priority)]];
  return [[RULE.mark, u32(rule.mark)], [RULE.table, u32(rule.table)], ...priority];
}

/** Tables of a family that hold `local default dev lo`. */
export function localDefaultTables(system: SystemCalls, family: Family): number[] {
  return ask(system, {
    protocol: NETLINK_ROUTE,
    type: MESSAGE.getRoute,
    flags: FLAGS.dump,
    header: routeHeader(family),
  })
    .filter(({ header, attributes }) =>
      header.getUint8(1) === 0 && header.getUint8(7) === LOCAL &&
      numberOf(attributes.get(ROUTE.interface), 0) === LOOPBACK_INDEX
    )
    .map(({ header, attributes }) => numberOf(attributes.get(ROUTE.table), header.getUint8(4)));
}

/** `ip route add local default dev lo table TABLE`. */
export function addLocalDefault(system: SystemCalls, family: Family, table: number): void {
  const request = { protocol: NETLINK_ROUTE, header: routeHeader(family), attributes: routeAttributes(table) };
  ask(system, { ...request, type: MESSAGE.newRoute, flags: CREATE });
}

/** `ip route del local default dev lo table TABLE`. */
export function deleteLocalDefault(system: SystemCalls, family: Family, table: number): void {
  const request = { protocol: NETLINK_ROUTE, header: routeHeader(family), attributes: routeAttributes(table) };
  ask(system, { ...request, type: MESSAGE.deleteRoute, flags: FLAGS.ack });
}

function routeHeader(family: Family): Uint8Array {
  return Uint8Array.of(FAMILY_NUMBERS[family], 0, 0, 0, 0, PROTOCOL_BOOT, SCOPE_HOST, LOCAL, 0, 0, 0, 0);
}

function routeAttributes(table: number): Attribute[] {
  return [[ROUTE.table, u32(table)], [ROUTE.interface, u32(LOOPBACK_INDEX)]];
}

/** Gives the loopback interface an address; no error if it has it. */
export function addLoopbackAddress(system: SystemCalls, cidr: Cidr): void {
  try {
    changeAddress(system, MESSAGE.newAddress, CREATE, cidr);
  } catch (error) {
    if (!(error instanceof SystemError) || error.errno !== EEXIST) throw error;
  }
}

/** Takes an address from the loopback interface. */
export function deleteLoopbackAddress(system: SystemCalls, cidr: Cidr): void {
  changeAddress(system, MESSAGE.deleteAddress, FLAGS.ack, cidr);
}

function changeAddress(system: SystemCalls, type: number, flags: number, { address, bits }: Cidr): void {
  const header = new Uint8Array([FAMILY_NUMBERS[address.family], bits, 0, 0, ...u32(LOOPBACK_INDEX)]);
  const value = addressBytes(address.value, address.family);
  const attributes: Attribute[] = [[ADDRESS.local, value], [ADDRESS.address, value]];
  ask(system, { protocol: NETLINK_ROUTE, type, flags, header, attributes });
}

/** The bytes of an address in network order. */
export function addressBytes(value: bigint, family: Family): Uint8Array {
  const size = family === 4 ? 4 : 16;
  return Uint8Array.from({ length: size }, (_, at) => Number((value >> BigInt(8 * (size - 1 - at))) & 0xffn));
}

/** Whether an interface has an address with this prefix; an IPv6 loopback address such as `::6/128`. */
export function hasLoopbackAddress(system: SystemCalls, { address, bits }: Cidr): boolean {
  const header = new Uint8Array([FAMILY_NUMBERS[address.family], 0, 0, 0, 0, 0, 0, 0]);
  const wanted = addressBytes(address.value, address.family).join();
  return ask(system, { protocol: NETLINK_ROUTE, type: MESSAGE.getAddress, flags: FLAGS.dump, header })
    .some(({ header: held, attributes }) =>
      held.getUint32(4, true) === LOOPBACK_INDEX && held.getUint8(1) === bits &&
      attributes.get(ADDRESS.address)?.join() === wanted
    );
}
