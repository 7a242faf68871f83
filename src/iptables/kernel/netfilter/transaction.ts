/**
 * Changes tables, chains and rules of nf_tables in one transaction: the kernel applies all changes, or leaves the rules
 * as before.
 */
import { type SystemCalls, SystemError } from "../../../platform/mod.ts";
import { type Attribute, type Change, nested, RefusedChange, sendBatch, textBytes, u32BigEndian } from "../netlink.ts";
import { dataAttribute, type Expression, expressionAttribute, META } from "./expressions.ts";
import {
  type BaseChain,
  CHAIN,
  ELEMENT,
  ELEMENTS,
  HOOK,
  type KernelRule,
  type KernelTable,
  MESSAGE,
  nftHeader,
  readRuleset,
  RULE,
  type Ruleset,
  TABLE,
  tableParts,
} from "./ruleset.ts";

/** A rule to add. */
export interface NewRule extends Pick<KernelRule, "expressions" | "userData"> {
  /** The text of the rule, for error messages. */
  readonly text: string;
}

/** The wanted rules of a chain, in order. A `KernelRule` stays in the kernel; a `NewRule` is added. */
export interface WantedChain {
  readonly name: string;
  /** The hook of a base chain, used if the kernel lacks the chain. */
  readonly base: BaseChain | undefined;
  /** The policy of a new base chain. The kernel's default is also to accept. */
  readonly policy?: "accept";
  readonly rules: readonly (KernelRule | NewRule)[];
}

/** A change of a table such as `ip nat`. Chains that are not listed in the change stay. */
export interface TableChange {
  readonly table: string;
  /** Deletes the table and creates it again. */
  readonly isReplaced: boolean;
  /** Lets a new table belong to the socket that creates it (NFT_TABLE_F_OWNER). */
  readonly isOwned?: boolean;
  readonly chains: readonly WantedChain[];
  readonly deleted: readonly string[];
}

/** Thrown if the rules changed between the read and the transaction. */
export class RulesetChanged extends Error {}

/** Thrown if the kernel refused a rule, and therefore the transaction. */
export class RefusedRule extends SystemError {
  /** `rule`: the text of the refused rule, or the name of the refused table or chain. */
  constructor(readonly rule: string, errno: number) {
    super(`nf_tables refused "${rule}"`, errno);
  }
}

const ERESTART = 85;

/** Applies the changes. Throws `RulesetChanged` or `RefusedRule`, and then leaves the rules unchanged. */
export function changeRuleset(system: SystemCalls, held: Ruleset, changes: readonly TableChange[]): void {
  const messages = changeMessages(held, changes);
  if (messages.length === 0) return;
  try {
    sendBatch(system, messages.map(({ message }) => message), held.generation);
  } catch (error) {
    if (!(error instanceof RefusedChange)) throw error;
    if (error.errno === ERESTART) {
      throw new RulesetChanged("Another program changed the rules at the same time", { cause: error });
    }
    throw new RefusedRule(messages[error.index]?.what ?? "the transaction", error.errno);
  }
}

/** Returns the netlink messages for the changes. Each message has a text for errors: its rule, or its table and chain. */
export function changeMessages(held: Ruleset, changes: readonly TableChange[]): Messages["list"] {
  const messages = new Messages(held);
  changes.forEach((change) => messages.change(change));
  return messages.list;
}

const FLAG = { create: 0x400, append: 0x800 } as const;
const OWNER = 2;
const CREATE = { flags: FLAG.create } as const;
const SET = { table: 1, name: 2, flags: 3, keyType: 4, keySize: 5, description: 9, id: 10, userData: 13 } as const;
/** The flags NFT_SET_ANONYMOUS and NFT_SET_CONSTANT. */
const CONSTANT = 3;
/** The nft type `inet_service`, and the libnftnl record that says that the set's keys are in network byte order. */
const PORT_TYPE = 13;
const BIG_ENDIAN_KEYS = Uint8Array.of(0, 4, 2, 0, 0, 0);

type Type = (typeof MESSAGE)[keyof typeof MESSAGE];

class Messages {
  readonly list: { readonly message: Change; readonly what: string }[] = [];
  #sets = 0;

  constructor(private readonly held: Ruleset) {}

  change(change: TableChange): void {
    const { table, isReplaced } = change;
    const present = this.held.tables.get(table);
    const held = isReplaced ? undefined : present;
    if (isReplaced && present !== undefined) this.#deleteTable(table);
    this.#addChains(change, held);
    this.#deleteAllRules(change, held);
    for (const chain of change.chains) this.#addRules(table, chain);
    for (const name of change.deleted) this.#deleteChain(table, name);
    if (held !== undefined && isEmptied(held, change)) this.#deleteTable(table);
  }

  #addChains({ table, chains, isOwned = false }: TableChange, held: KernelTable | undefined): void {
    if (held === undefined && chains.length > 0) this.#addTable(table, isOwned ? OWNER : 0);
    for (const chain of chains) if (held?.chains.has(chain.name) !== true) this.#addChain(table, chain);
  }

  /** Deletes all rules of deleted chains, and the unwanted rules of other chains. */
  #deleteAllRules({ table, chains, deleted }: TableChange, held: KernelTable | undefined): void {
    for (const { name, rules } of [...deleted.map((name) => ({ name, rules: [] })), ...chains]) {
      const isKept = new Set<KernelRule | NewRule>(rules);
      const unwanted = held?.chains.get(name)?.rules.filter((rule) => !isKept.has(rule)) ?? [];
      this.#deleteRules(table, name, unwanted);
    }
  }

  #add(table: string, type: Type, attributes: readonly Attribute[], { flags = 0, what = `table ${table}` } = {}): void {
    const header = nftHeader(tableParts(table).family);
    this.list.push({ message: { type, flags, header, attributes }, what });
  }

  #addTable(table: string, flags: number): void {
    this.#add(table, MESSAGE.newTable, [nameOf(TABLE.name, table), [TABLE.flags, u32BigEndian(flags)]], CREATE);
  }

  #deleteTable(table: string): void {
    this.#add(table, MESSAGE.deleteTable, [nameOf(TABLE.name, table)]);
  }

  #addChain(table: string, { name, base, policy }: WantedChain): void {
    const place: Attribute[] = base === undefined ? [] : [
      [CHAIN.type, textBytes(base.type)],
      nested(CHAIN.hook, [[HOOK.number, u32BigEndian(base.hook)], [HOOK.priority, u32BigEndian(base.priority)]]),
      ...policy === undefined ? [] : [[CHAIN.policy, u32BigEndian(1)] satisfies Attribute],
    ];
    const attributes = [nameOf(CHAIN.table, table), [CHAIN.name, textBytes(name)] satisfies Attribute, ...place];
    this.#add(table, MESSAGE.newChain, attributes, { ...CREATE, what: `table ${table}, chain ${name}` });
  }

  #deleteChain(table: string, name: string): void {
    this.#add(table, MESSAGE.deleteChain, [nameOf(CHAIN.table, table), [CHAIN.name, textBytes(name)]]);
  }

  #deleteRules(table: string, chain: string, rules: readonly KernelRule[]): void {
    for (const { handle } of rules) {
      this.#add(table, MESSAGE.deleteRule, [...place(table, chain), [RULE.handle, handle]]);
    }
  }

  /** Inserts each new rule before the next rule that stays, or appends it. */
  #addRules(table: string, { name, rules }: WantedChain): void {
    rules.forEach((rule, at) => {
      if ("handle" in rule) return;
      const next = rules.slice(at).find((later) => "handle" in later);
      const expressions = rule.expressions.map((one) => expressionAttribute(this.#withSet(table, one)));
      const attributes: Attribute[] = [
        ...place(table, name),
        nested(RULE.expressions, expressions),
        ...compatibility(rule.expressions),
        ...next === undefined ? [] : [[RULE.position, next.handle] satisfies Attribute],
        ...rule.userData === undefined ? [] : [[RULE.userData, rule.userData] satisfies Attribute],
      ];
      const flags = FLAG.create | (next === undefined ? FLAG.append : 0);
      this.#add(table, MESSAGE.newRule, attributes, { flags, what: rule.text });
    });
  }

  /** Creates the anonymous set of a `lookup`, which must exist before the rule. */
  #withSet(table: string, one: Expression): Expression {
    const { elements } = one;
    if (elements === undefined) return one;
    const id = ++this.#sets;
    const set = textBytes("__set%d");
    this.#add(table, MESSAGE.newSet, [
      nameOf(SET.table, table),
      [SET.name, set],
      [SET.flags, u32BigEndian(CONSTANT)],
      [SET.keyType, u32BigEndian(PORT_TYPE)],
      [SET.keySize, u32BigEndian(2)],
      [SET.id, u32BigEndian(id)],
      nested(SET.description, [[1, u32BigEndian(elements.length)]]),
      [SET.userData, BIG_ENDIAN_KEYS],
    ], CREATE);
    this.#add(table, MESSAGE.newElements, [
      nameOf(ELEMENTS.table, table),
      [ELEMENTS.set, set],
      [ELEMENTS.setId, u32BigEndian(id)],
      nested(ELEMENTS.elements, elements.map((key, at) => nested(at + 1, [dataAttribute(ELEMENT.key, key)]))),
    ], CREATE);
    return { ...one, fields: { ...one.fields, set: "__set%d", setId: id } };
  }
}

function nameOf(type: number, table: string): Attribute {
  return [type, textBytes(tableParts(table).name)];
}

function place(table: string, chain: string): Attribute[] {
  return [nameOf(RULE.table, table), [RULE.chain, textBytes(chain)]];
}

/** Encodes the protocol of a rule (NFTA_RULE_COMPAT), which iptables extensions check. */
function compatibility(expressions: readonly Expression[]): Attribute[] {
  if (!expressions.some(({ kind }) => kind === "match" || kind === "target")) return [];
  const at = expressions.findIndex(({ kind, fields: { key } }) => kind === "meta" && key === META.l4proto);
  const { data } = expressions[at + 1]?.fields ?? {};
  const number = at >= 0 && data instanceof Uint8Array ? data[0] ?? 0 : 0;
  return number === 0 ? [] : [nested(RULE.compat, [[1, u32BigEndian(number)], [2, u32BigEndian(0)]])];
}

/** Whether only empty base chains remain after the change. iptables keeps such a table; this program deletes it. */
function isEmptied({ chains: held, uses }: KernelTable, { chains, deleted }: Pick<TableChange, "chains" | "deleted">) {
  const left = new Map(chains.map(({ name, rules }) => [name, rules]));
  return uses === held.size && chains.every(({ name }) => held.has(name)) &&
    [...held].every(([name, { base, accepts, rules }]) =>
      deleted.includes(name) || base !== undefined && accepts && (left.get(name) ?? rules).length === 0
    );
}

/**
 * Deletes each table that has only empty base chains with the policy accept. The iptables programs leave such tables
 * behind. A table that another program changes at the same time stays.
 */
export function deleteEmptyTables(system: SystemCalls, tables: readonly string[]): void {
  if (tables.length === 0) return;
  try {
    const held = readRuleset(system, (table) => tables.includes(table));
    changeRuleset(system, held, tables.map((table) => ({ table, isReplaced: false, chains: [], deleted: [] })));
  } catch (error) {
    if (!(error instanceof SystemError) && !(error instanceof RulesetChanged)) throw error;
  }
}
