/** The owned rules in a network namespace, read without a change. */
import { MeshError } from "../../base/errors.ts";
import { heldContent, type NftContent } from "../kernel/nftables/content.ts";
import { type LegacyTable, legacyTable } from "../kernel/xtables/legacy_tables.ts";
import { type NftChain, nftChains, nftRuleContents, nftTables } from "../kernel/nftables/tables.ts";
import { ownedRules } from "../kernel/xtables/owned.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { isOwnedChain, parseSave, type SavedRule, type SavedTable } from "../kernel/xtables/save.ts";
import { EPERM, type SystemCalls, SystemError } from "../../platform/mod.ts";
import type { World } from "../../platform/world.ts";
import type { Family } from "../plan/rule.ts";
import type { HeldTables } from "../kernel/xtables/transaction.ts";
import { NFT_TABLES } from "../views/nft.ts";
import { NET_ADMIN } from "./diagnosis.ts";
import { iptablesProgram, runProgram, type Variant } from "./programs.ts";

export interface Holding {
  readonly variant: "nft" | "legacy";
  readonly family: Family;
  readonly text: string;
  readonly tables: readonly SavedTable[];
  readonly owned: ReadonlySet<SavedRule>;
}

export interface Survey {
  /** `undefined` on a kernel without nf_tables. */
  readonly nftTables: ReadonlySet<string> | undefined;
  /** Families and back ends that may have owned rules; the others have none. */
  readonly holdings: readonly Holding[];
  /** The owned tables of nftables. */
  readonly nft: NftContent;
  /** The number of rules in iptables-legacy, owned and foreign. */
  readonly legacyRules: number;
}

const TABLES = ["nat", "mangle", "raw", "filter"];
const FAMILIES: readonly Family[] = [4, 6];

export type Readers = (variant: "nft" | "legacy") => Promise<Variant | undefined>;

/** Reads every back end that may have owned rules, and starts no program for others. */
export async function survey(world: World, names: OwnerNames, readers: Readers): Promise<Survey> {
  const { system } = world;
  const { tables, chains } = readNft(system);
  const legacy = await legacyTables(world);
  const isLegacy = (family: Family) => legacy.some((table) => table.family === family && table.mayHoldOwned);
  const sources = await Promise.all(FAMILIES.flatMap((family) => [
    ...mayHoldOwned(system, chains, family) ? [sourceOf("nft", family, readers)] : [],
    ...isLegacy(family) ? [sourceOf("legacy", family, readers)] : [],
  ]));
  const holdings: Holding[] = [];
  for (const source of sources) holdings.push(holdingOf(source, await runProgram(world, source.command, []), names));
  const hasOwnedNft = NFT_TABLES.some(({ name }) => tables?.has(`inet ${name}`));
  const nft: NftContent = hasOwnedNft
    ? heldContent(await runProgram(world, "nft", ["list", "ruleset", "inet"]), names)
    : new Map();
  return { nftTables: tables, holdings, nft, legacyRules: legacy.reduce((sum, { rules }) => sum + rules, 0) };
}

/** The marks that owned rules set; they identify the policy rules of an earlier run. */
export function marksOf({ holdings, nft }: Survey): ReadonlySet<number> {
  const inIptables = holdings.flatMap(({ tables }) => tables).flatMap(({ rules }) => rules)
    .filter(({ chain }) => isOwnedChain(chain))
    .map(({ options }) => options.get("tproxy-mark") ?? options.get("set-xmark") ?? "");
  const inNft = [...nft.values()].flatMap((chains) => [...chains.values()].flat())
    .map((key) => /\bmark set (\d+)/.exec(key)?.[1] ?? "");
  return new Set([...inIptables, ...inNft].map((text) => Number(text.split("/")[0])).filter((mark) => mark > 0));
}

/** The tables in the output of `iptables-save`, and the owned rules. */
export function contentOf(text: string, names: OwnerNames): HeldTables {
  const tables = parseSave(text, names);
  return { tables, owned: ownedRules(tables) };
}

/** Whether there may be owned rules: owned chains, or rules with which Istio 1.0 to 1.4 refused IPv6. */
function mayHoldOwned(system: SystemCalls, chains: readonly NftChain[], family: Family): boolean {
  const prefix = family === 4 ? "ip" : "ip6";
  const hasChains = chains.some(({ table, name }) =>
    isOwnedChain(name) && TABLES.some((known) => table === `${prefix} ${known}`)
  );
  return hasChains || family === 6 && mayRefuseIpv6(system, chains);
}

/** A netlink attribute of 20 bytes: the address `::1`. */
const COMPARED_WITH_LOOPBACK = `\x14\0\x01\0${"\0".repeat(15)}\x01`;

/** Whether the chain INPUT has at least three rules, one of them for `::1`. */
function mayRefuseIpv6(system: SystemCalls, chains: readonly NftChain[]): boolean {
  const input = chains.find(({ table, name }) => table === "ip6 filter" && name === "INPUT");
  if (input === undefined || input.uses < 3) return false;
  return nftRuleContents(system, "ip6 filter", "INPUT").some((rule) => rule.includes(COMPARED_WITH_LOOPBACK));
}

function readNft(system: SystemCalls): { tables: ReadonlySet<string> | undefined; chains: readonly NftChain[] } {
  try {
    return { tables: nftTables(system), chains: nftChains(system) };
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.errno !== EPERM) return { tables: undefined, chains: [] };
    throw new MeshError("This process cannot read or change the rules of its network namespace", { hint: NET_ADMIN });
  }
}

/** The tables of iptables-legacy in use: the kernel lists them in /proc. */
async function legacyTables(world: World): Promise<(LegacyTable & { readonly family: Family })[]> {
  const tables = await Promise.all(FAMILIES.map(async (family) => {
    const path = `/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`;
    const text = await world.files.readText(path).catch(() => "");
    const names = text.split("\n").filter((name) => TABLES.includes(name));
    return names.map((name) => ({ family, ...legacyTable(world.system, family, name) }));
  }));
  return tables.flat();
}

/** `iptables-nft-save` prints this instead of a table. */
const UNREADABLE = /^# Table [`'](\w+)' is incompatible/m;

/** A family and back end, and the program that reads it. */
type Source = Pick<Holding, "variant" | "family"> & { readonly command: string };

async function sourceOf(variant: Holding["variant"], family: Family, readers: Readers): Promise<Source> {
  const program = await readers(variant);
  if (program !== undefined) return { variant, family, command: iptablesProgram(program, family, "save") };
  throw new MeshError(`No program can read the rules of iptables-${variant}`, {
    hint: `Use an image that has "${iptablesProgram(variant, family, "save")}"`,
  });
}

function holdingOf({ variant, family, command }: Source, text: string, names: OwnerNames): Holding {
  const unreadable = UNREADABLE.exec(text)?.[1];
  if (unreadable !== undefined && TABLES.includes(unreadable)) {
    const message = `"${command}" cannot read table "${unreadable}", which has owned rules: ${
      text.trim().split("\n")[0]
    }`;
    throw new MeshError(message, {
      hint:
        "Another program added rules with nft that iptables cannot read: remove them, or use --native-nftables in a new pod",
    });
  }
  return { variant, family, text, ...contentOf(text, names) };
}

/** Whether a back end has owned rules. */
export function holdsOwned({ tables, owned }: Holding): boolean {
  return owned.size > 0 || tables.some(({ chains }) => chains.some(isOwnedChain));
}

/** The number of foreign rules in iptables-legacy. */
export function foreignLegacyRules({ legacyRules, holdings }: Survey): number {
  const owned = holdings.filter(({ variant }) => variant === "legacy").flatMap(({ tables, owned }) =>
    tables.flatMap(({ rules }) => rules).filter((rule) => owned.has(rule) || isOwnedChain(rule.chain))
  );
  return legacyRules - owned.length;
}
