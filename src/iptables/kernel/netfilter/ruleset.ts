/** Reads the tables of nf_tables, with their chains and rules, over nfnetlink. */
import type { SystemCalls } from "../../../platform/mod.ts";
import {
  ask,
  type Attribute,
  attributeList,
  attributesOf,
  FLAGS,
  type Message,
  NETLINK_NETFILTER,
  numberOfBigEndian,
  textBytes,
  textOf,
} from "../netlink.ts";
import { dataOf, type Expression, expressionsOf } from "./expressions.ts";

const SUBSYSTEM = 10 << 8;
/** Message types (`enum nf_tables_msg_types`). */
export const MESSAGE = {
  newTable: SUBSYSTEM | 0,
  getTable: SUBSYSTEM | 1,
  deleteTable: SUBSYSTEM | 2,
  newChain: SUBSYSTEM | 3,
  getChain: SUBSYSTEM | 4,
  deleteChain: SUBSYSTEM | 5,
  newRule: SUBSYSTEM | 6,
  getRule: SUBSYSTEM | 7,
  deleteRule: SUBSYSTEM | 8,
  newSet: SUBSYSTEM | 9,
  newElements: SUBSYSTEM | 12,
  getElements: SUBSYSTEM | 13,
  getGeneration: SUBSYSTEM | 16,
} as const;
export const TABLE = { name: 1, flags: 2, uses: 3 } as const;
export const CHAIN = { table: 1, name: 3, hook: 4, policy: 5, uses: 6, type: 7 } as const;
export const HOOK = { number: 1, priority: 2 } as const;
export const RULE = {
  table: 1,
  chain: 2,
  handle: 3,
  expressions: 4,
  compat: 5,
  position: 6,
  userData: 7,
} as const;
export const ELEMENTS = { table: 1, set: 2, elements: 3, setId: 4 } as const;
export const ELEMENT = { key: 1, flags: 3 } as const;
const GENERATION = 1;
const ACCEPT = 1;

/** Numbers of table families (NFPROTO_* in linux/netfilter.h). */
const TABLE_FAMILIES = { inet: 1, ip: 2, ip6: 10 } as const;
const FAMILY_NAMES: Readonly<Record<number, string>> = { 1: "inet", 2: "ip", 5: "netdev", 7: "bridge", 10: "ip6" };

/** A rule in the kernel. */
export interface KernelRule {
  /** The number that identifies the rule in its chain: 64 bits in network byte order. */
  readonly handle: Uint8Array;
  readonly expressions: readonly Expression[];
  readonly userData: Uint8Array | undefined;
}

/** The type, hook and priority of a base chain. */
export interface BaseChain {
  readonly type: string;
  readonly hook: number;
  readonly priority: number;
}

/** A chain in the kernel. */
export interface KernelChain {
  readonly base: BaseChain | undefined;
  readonly accepts: boolean;
  readonly rules: readonly KernelRule[];
}

/** A table in the kernel. */
export interface KernelTable {
  readonly chains: ReadonlyMap<string, KernelChain>;
  /** The number of chains, sets and other objects in the table. */
  readonly uses: number;
}

/** All tables, by family and name, such as `ip nat`. */
export interface Ruleset {
  readonly generation: number;
  readonly tables: ReadonlyMap<string, KernelTable>;
}

/**
 * Reads the tables, and the rules of the tables for which `wanted` is true. Throws a `SystemError`: EPERM without
 * NET_ADMIN, other errors without nf_tables.
 */
export function readRuleset(system: SystemCalls, wanted: (table: string) => boolean): Ruleset {
  // The generation is read before the rules: if the rules change during the read, the kernel refuses a transaction
  // with this generation.
  const [answer] = request(system, MESSAGE.getGeneration, 0);
  const generation = numberOfBigEndian(answer?.attributes.get(GENERATION), 0);
  const tables = new Map(
    dump(system, MESSAGE.getTable).map((message) => {
      const uses = numberOfBigEndian(message.attributes.get(TABLE.uses), 0);
      return [tableName(message, TABLE.name), { uses, chains: new Map<string, ChainParts>() }];
    }),
  );
  for (const message of tables.size === 0 ? [] : dump(system, MESSAGE.getChain)) {
    const { attributes } = message;
    tables.get(tableName(message, CHAIN.table))?.chains.set(textOf(attributes.get(CHAIN.name)), {
      base: baseChain(attributes),
      accepts: numberOfBigEndian(attributes.get(CHAIN.policy), ACCEPT) === ACCEPT,
      rules: [],
    });
  }
  for (const message of [...tables.keys()].some(wanted) ? dump(system, MESSAGE.getRule) : []) {
    const table = tableName(message, RULE.table);
    if (!wanted(table)) continue;
    const rule = kernelRule(message.attributes);
    const withSets = { ...rule, expressions: rule.expressions.map((one) => withElements(system, table, one)) };
    tables.get(table)?.chains.get(textOf(message.attributes.get(RULE.chain)))?.rules.push(withSets);
  }
  return { generation, tables };
}

type ChainParts = Omit<KernelChain, "rules"> & { readonly rules: KernelRule[] };

function baseChain(attributes: Message["attributes"]): BaseChain | undefined {
  const hook = attributes.get(CHAIN.hook);
  if (hook === undefined) return undefined;
  const fields = attributesOf(hook);
  return {
    type: textOf(attributes.get(CHAIN.type)),
    hook: numberOfBigEndian(fields.get(HOOK.number), 0),
    priority: numberOfBigEndian(fields.get(HOOK.priority), 0) | 0,
  };
}

function kernelRule(attributes: Message["attributes"]): KernelRule {
  return {
    handle: attributes.get(RULE.handle) ?? new Uint8Array(8),
    expressions: expressionsOf(attributes.get(RULE.expressions)),
    userData: attributes.get(RULE.userData),
  };
}

/** Adds to a `lookup` the sorted members of its anonymous set. A set with ranges or data stays unknown. */
function withElements(system: SystemCalls, table: string, one: Expression): Expression {
  const { set } = one.fields;
  if (one.kind !== "lookup" || typeof set !== "string" || !set.startsWith("__set")) return one;
  const { family, name } = tableParts(table);
  const attributes: Attribute[] = [[ELEMENTS.table, textBytes(name)], [ELEMENTS.set, textBytes(set)]];
  const elements = request(system, MESSAGE.getElements, FLAGS.dump, { family, attributes })
    .flatMap((message) => attributeList(message.attributes.get(ELEMENTS.elements)))
    .map(([, element]) => attributesOf(element));
  if (elements.some((fields) => fields.has(ELEMENT.flags) || fields.size > 1)) return one;
  const keys = elements.map((fields) => dataOf(fields.get(ELEMENT.key)));
  return { ...one, elements: keys.toSorted((a, b) => hex(a) < hex(b) ? -1 : 1) };
}

function hex(bytes: Uint8Array): string {
  return [...bytes].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** Splits the key of a table, such as `ip nat`, into the number of the family and the name. */
export function tableParts(table: string): { readonly family: number; readonly name: string } {
  const [family = "", name = ""] = table.split(" ");
  const known: Readonly<Record<string, number | undefined>> = TABLE_FAMILIES;
  return { family: known[family] ?? 0, name };
}

/** Returns the key of a table, such as `ip nat`. `type` is the number of the attribute that contains the table's name. */
export function tableName({ header, attributes }: Message, type: number): string {
  const family = header.getUint8(0);
  return `${FAMILY_NAMES[family] ?? family} ${textOf(attributes.get(type))}`;
}

function dump(system: SystemCalls, type: number): Message[] {
  return request(system, type, FLAGS.dump);
}

function request(
  system: SystemCalls,
  type: number,
  flags: number,
  { family = 0, attributes = [] }: { readonly family?: number; readonly attributes?: readonly Attribute[] } = {},
): Message[] {
  return ask(system, { protocol: NETLINK_NETFILTER, type, flags, header: nftHeader(family), attributes });
}

/** Encodes the message header for a family of tables (struct nfgenmsg). */
export function nftHeader(family: number): Uint8Array {
  return Uint8Array.of(family, 0, 0, 0);
}
