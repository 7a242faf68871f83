/** Reads the owned rules in a network namespace. */
import { MeshError } from "../../base/errors.ts";
import { heldTables } from "../kernel/nftables/content.ts";
import { type LegacyTable, legacyTable, legacyTableNames } from "../kernel/xtables/legacy_tables.ts";
import { readRuleset, type Ruleset } from "../kernel/netfilter/ruleset.ts";
import { savedText } from "../kernel/xtables/compat_text.ts";
import { ownedRules } from "../kernel/xtables/owned.ts";
import type { OwnerNames, RuleOptions } from "../kernel/xtables/rule_options.ts";
import { isOwnedChain, parseSave, type SavedRule, savedRule, type SavedTable } from "../kernel/xtables/save.ts";
import { EPERM, type SystemCalls, SystemError } from "../../platform/mod.ts";
import type { World } from "../../platform/world.ts";
import { FAMILIES, type Family, type Table, TABLE_FAMILY, TABLES } from "../plan/rule.ts";
import type { HeldTables } from "../kernel/xtables/transaction.ts";
import { NFT_TABLES } from "../views/nft.ts";
import { NET_ADMIN } from "./diagnosis.ts";
import { type Access, iptablesProgram, runProgram } from "./programs.ts";

/** The rules of one back end. `native`: the owned nftables tables, which are for both families. */
export interface Holding extends HeldTables {
  readonly variant: "nft" | "legacy" | "native";
  readonly family: Family | undefined;
}

export interface Survey {
  /** The content of nf_tables; `undefined` on a kernel without nf_tables. */
  readonly ruleset: Ruleset | undefined;
  /** The rules of each family and back end that may contain owned rules. */
  readonly holdings: readonly Holding[];
  /** The number of owned and foreign rules in iptables-legacy. */
  readonly legacyRules: number;
}

export type Readers = (variant: "nft" | "legacy") => Promise<Access | undefined>;

/** Reads every back end that may contain owned rules. Starts a program only for a back end that netlink cannot read. */
export async function survey(world: World, names: OwnerNames, readers: Readers): Promise<Survey> {
  const ruleset = readNft(world.system);
  const legacy = await legacyTables(world);
  const isLegacy = (family: Family) => legacy.some((table) => table.family === family && table.mayHoldOwned);
  const inNft = ruleset === undefined ? [] : FAMILIES.map((family) => nftHolding(ruleset, family, names));
  const isRead = inNft.some(holdsOwned) && await readers("nft") === "netlink";
  const sources = await Promise.all([
    ...inNft.filter((held) => holdsOwned(held) && !isRead).map(({ family }) => sourceOf("nft", family, readers)),
    ...FAMILIES.filter(isLegacy).map((family) => sourceOf("legacy", family, readers)),
  ]);
  const holdings: Holding[] = isRead ? inNft : inNft.filter((held) => !holdsOwned(held));
  for (const source of sources) holdings.push(holdingOf(source, await runProgram(world, source.command, []), names));
  const native = ruleset === undefined ? [] : heldTables(ruleset, names);
  if (native.length > 0) {
    const owned = new Set(native.flatMap(({ rules }) => rules));
    holdings.push({ variant: "native", family: undefined, tables: native, owned });
  }
  return { ruleset, holdings, legacyRules: legacy.reduce((sum, { rules }) => sum + rules, 0) };
}

/** An owned rule of any back end, as options of iptables. */
export interface HeldRule {
  /** The address family; `undefined` for an nftables rule for both families. */
  readonly family: Family | undefined;
  readonly table: Table;
  /** The chain as iptables spells it, such as `ISTIO_OUTPUT` or `PREROUTING`. */
  readonly chain: string;
  readonly options: RuleOptions;
}

/** Returns the owned rules of all back ends. */
export function heldRules({ holdings }: Pick<Survey, "holdings">): HeldRule[] {
  return holdings.flatMap((holding) =>
    holding.tables.flatMap(({ name, rules }) =>
      rules.filter((rule) => isOwned(holding, rule))
        .map(({ chain, options, family }) => ({ family: holding.family ?? family, table: name, chain, options }))
    )
  );
}

function isOwned({ owned }: HeldTables, rule: SavedRule): boolean {
  return owned.has(rule) || isOwnedChain(rule.chain);
}

/** Returns the packet marks that owned rules set. These marks identify the policy rules of an earlier run. */
export function marksOf(found: Survey): ReadonlySet<number> {
  const marks = heldRules(found).filter(({ chain }) => isOwnedChain(chain))
    .map(({ options }) => options.get("tproxy-mark") ?? options.get("set-xmark") ?? "");
  return new Set(marks.map((text) => Number(text.split("/")[0])).filter((mark) => mark > 0));
}

/** Parses the output of `iptables-save` into its tables and the owned rules in them. */
export function contentOf(text: string, names: OwnerNames): HeldTables {
  const tables = parseSave(text, names);
  return { tables, owned: ownedRules(tables) };
}

/** Tables that may contain owned rules. */
const READ_TABLES: ReadonlySet<string> = new Set([
  ...TABLES.flatMap((name) => [`ip ${name}`, `ip6 ${name}`]),
  ...NFT_TABLES.map(({ name }) => `inet ${name}`),
]);

/** ENOENT, EINVAL, ENOSYS, EPROTONOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT, ECONNREFUSED: the kernel lacks the feature. */
const ABSENT: readonly number[] = [2, 22, 38, 93, 95, 97, 111];

/** Reads nf_tables. Returns `undefined` on a kernel without nf_tables. */
function readNft(system: SystemCalls): Ruleset | undefined {
  try {
    return readRuleset(system, (table) => READ_TABLES.has(table));
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (ABSENT.includes(error.errno)) return undefined;
    if (error.errno === EPERM) {
      throw new MeshError("This process cannot read or change the rules of its network namespace", { hint: NET_ADMIN });
    }
    throw new MeshError(`Reading the rules of nf_tables failed: ${error.message}`, { cause: error });
  }
}

/** Returns the tables of iptables-nft for an address family. */
function nftHolding({ tables }: Ruleset, family: Family, names: OwnerNames): Holding & { readonly family: Family } {
  const saved = TABLES.flatMap((name): SavedTable[] => {
    const chains = tables.get(`${TABLE_FAMILY[family]} ${name}`)?.chains;
    if (chains === undefined) return [];
    const rules = [...chains].flatMap(([chain, held]) =>
      held.rules.map((kernel) => ({ ...savedRule(chain, savedText(kernel, family), names), kernel }))
    );
    return [{ name, chains: [...chains].flatMap(([chain, { base }]) => base === undefined ? [chain] : []), rules }];
  });
  return { variant: "nft", family, tables: saved, owned: ownedRules(saved) };
}

/** Reads the tables that iptables-legacy has created. */
async function legacyTables(world: World): Promise<(LegacyTable & { readonly family: Family })[]> {
  const tables = await Promise.all(FAMILIES.map(async (family) => {
    const names = await legacyTableNames(world, family);
    return names.filter((name) => TABLES.some((table) => table === name)).map((name) => ({
      family,
      ...legacyTable(world.system, family, name),
    }));
  }));
  return tables.flat();
}

/** Matches the line that `iptables-nft-save` prints instead of an incompatible table. */
const UNREADABLE = /^# Table [`'](\w+)' is incompatible/m;

/** A family, a back end, and the program that reads their rules. */
type Source = Pick<Holding, "variant" | "family"> & { readonly command: string };

async function sourceOf(variant: "nft" | "legacy", family: Family, readers: Readers): Promise<Source> {
  const program = await readers(variant);
  if (program !== undefined && program !== "netlink") {
    return { variant, family, command: iptablesProgram(program, family, "save") };
  }
  throw new MeshError(`No program can read the rules of iptables-${variant}`, {
    hint: `Use an image that has "${iptablesProgram(variant, family, "save")}"`,
  });
}

function holdingOf({ variant, family, command }: Source, text: string, names: OwnerNames): Holding {
  const unreadable = UNREADABLE.exec(text)?.[1];
  if (unreadable !== undefined && TABLES.some((table) => table === unreadable)) {
    const message = `"${command}" cannot read table "${unreadable}", which has owned rules: ${
      text.trim().split("\n")[0]
    }`;
    throw new MeshError(message, {
      hint:
        "Another program added rules with nft that iptables cannot read: remove them, or use --native-nftables in a new pod",
    });
  }
  return { variant, family, ...contentOf(text, names) };
}

/** Whether a back end contains owned rules. */
export function holdsOwned({ tables, owned }: Holding): boolean {
  return owned.size > 0 || tables.some(({ chains }) => chains.some(isOwnedChain));
}

/** Formats the number of rules in each back end, such as `iptables-nft: 3 owned and 2 foreign rules; ...`. */
export function holdingsText(survey: Survey): string {
  const { ruleset, legacyRules, holdings } = survey;
  const inNft = holdings.filter(({ variant }) => variant === "nft");
  const all = inNft.flatMap(({ tables }) => tables.flatMap(({ rules }) => rules)).length;
  const owned = ownedCount(survey, "nft");
  const foreign = foreignLegacyRules(survey);
  return [
    ...ruleset === undefined ? ["the kernel has no nf_tables"] : [
      `iptables-nft: ${owned} owned and ${all - owned} foreign rules`,
      `nftables: ${ownedCount(survey, "native")} owned rules`,
    ],
    `iptables-legacy: ${legacyRules - foreign} owned and ${foreign} foreign rules`,
  ].join("; ");
}

function ownedCount({ holdings }: Survey, variant: Holding["variant"]): number {
  return heldRules({ holdings: holdings.filter((holding) => holding.variant === variant) }).length;
}

/** Counts the foreign rules in iptables-legacy. */
export function foreignLegacyRules(survey: Survey): number {
  return survey.legacyRules - ownedCount(survey, "legacy");
}
