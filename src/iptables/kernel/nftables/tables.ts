/** The tables, chains and rules of nftables over nfnetlink: no program is started and nothing is created. */
import { ask, type Attribute, FLAGS, NETLINK_NETFILTER, numberOfBigEndian, sendBatch } from "../netlink.ts";
import { type SystemCalls, SystemError } from "../../../platform/mod.ts";

const SUBSYSTEM = 10 << 8;
const MESSAGE = {
  getTable: SUBSYSTEM | 1,
  deleteTable: SUBSYSTEM | 2,
  getChain: SUBSYSTEM | 4,
  deleteChain: SUBSYSTEM | 5,
  getRule: SUBSYSTEM | 7,
};
const TABLE = { name: 1 } as const;
const CHAIN = { table: 1, name: 3, hook: 4, policy: 5, uses: 6 } as const;
const RULE = { table: 1, chain: 2, expressions: 4 } as const;
/** NLM_F_NONREC: deletes only an empty object. */
const NOT_RECURSIVE = 0x100;
const ACCEPT = 1;
const FAMILIES: Readonly<Record<number, string>> = { 1: "inet", 2: "ip", 7: "bridge", 10: "ip6" };
const NUMBERS: ReadonlyMap<string, number> = new Map([["inet", 1], ["ip", 2], ["ip6", 10]]);

export interface NftChain {
  /** `ip nat`. */
  readonly table: string;
  readonly name: string;
  readonly isBase: boolean;
  readonly accepts: boolean;
  /** The number of its rules and of the rules that jump to it. */
  readonly uses: number;
}

/**
 * The tables, such as `ip nat` and `inet istio-proxy-nat`. Throws `SystemError`: EPERM without NET_ADMIN, others
 * without nf_tables.
 */
export function nftTables(system: SystemCalls): ReadonlySet<string> {
  return new Set(
    dump(system, MESSAGE.getTable).map(({ header, attributes }) =>
      `${familyName(header)} ${text(attributes.get(TABLE.name))}`
    ),
  );
}

/** All chains. Throws as `nftTables` does. */
export function nftChains(system: SystemCalls): NftChain[] {
  return dump(system, MESSAGE.getChain).map(({ header, attributes }) => ({
    table: `${familyName(header)} ${text(attributes.get(CHAIN.table))}`,
    name: text(attributes.get(CHAIN.name)),
    isBase: attributes.has(CHAIN.hook),
    accepts: numberOfBigEndian(attributes.get(CHAIN.policy), ACCEPT) === ACCEPT,
    uses: numberOfBigEndian(attributes.get(CHAIN.uses), 0),
  }));
}

/**
 * The netlink bytes of the rules in a chain such as `ip6 filter`, `INPUT`: one character per byte. Throws as
 * `nftTables` does.
 */
export function nftRuleContents(system: SystemCalls, table: string, chain: string): string[] {
  const decoder = new TextDecoder("latin1");
  return dump(system, MESSAGE.getRule).flatMap(({ header, attributes }) => {
    const isWanted = `${familyName(header)} ${text(attributes.get(RULE.table))}` === table &&
      text(attributes.get(RULE.chain)) === chain;
    return isWanted ? [decoder.decode(attributes.get(RULE.expressions))] : [];
  });
}

function dump(system: SystemCalls, type: number) {
  return ask(system, { protocol: NETLINK_NETFILTER, type, flags: FLAGS.dump, header: header(0) });
}

function header(family: number): Uint8Array {
  return Uint8Array.of(family, 0, 0, 0);
}

function familyName(view: DataView): string {
  return FAMILIES[view.getUint8(0)] ?? String(view.getUint8(0));
}

function text(bytes: Uint8Array | undefined): string {
  return new TextDecoder().decode(bytes).replace(/\0$/, "");
}

/**
 * Deletes each table that has only empty base chains with the policy accept, as iptables leaves them. The kernel checks
 * and deletes in one step: a rule that is added at the same time stays. Returns the deleted tables.
 */
export function deleteEmptyTables(system: SystemCalls, tables: readonly string[]): string[] {
  if (tables.length === 0) return [];
  const chains = nftChains(system);
  return tables.filter((table) => deleteEmptyTable(system, table, chains.filter((chain) => chain.table === table)));
}

function deleteEmptyTable(system: SystemCalls, table: string, chains: readonly NftChain[]): boolean {
  const [family = "", name = ""] = table.split(" ");
  const number = NUMBERS.get(family);
  if (number === undefined || !chains.every(({ isBase, accepts, uses }) => isBase && accepts && uses === 0)) {
    return false;
  }
  const messages = [
    ...chains.map((chain) => ({
      type: MESSAGE.deleteChain,
      attributes: [[CHAIN.table, bytes(name)], [CHAIN.name, bytes(chain.name)]] satisfies Attribute[],
    })),
    { type: MESSAGE.deleteTable, attributes: [[TABLE.name, bytes(name)]] satisfies Attribute[] },
  ];
  try {
    sendBatch(system, messages.map((message) => ({ ...message, flags: NOT_RECURSIVE, header: header(number) })));
    return true;
  } catch (error) {
    if (error instanceof SystemError) return false;
    throw error;
  }
}

function bytes(name: string): Uint8Array {
  return new TextEncoder().encode(`${name}\0`);
}
