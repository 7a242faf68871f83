/** What a network namespace holds of ours, read without changing anything in it. */
import { MeshError } from "../../core/errors.ts";
import { isMap } from "../../core/value.ts";
import { heldContent, type NftContent } from "../kernel/nftables/content.ts";
import { type LegacyTable, legacyTable } from "../kernel/xtables/legacy_tables.ts";
import { type NftChain, nftChains, nftRuleContents, nftTables } from "../kernel/nftables/tables.ts";
import { ownBuiltInRules } from "../kernel/xtables/owned.ts";
import type { OwnerNames } from "../kernel/xtables/rule_options.ts";
import { isOurChain, parseSave, type SavedRule, type SavedTable } from "../kernel/xtables/save.ts";
import { EPERM, type SystemCalls, SystemError } from "../../core/world/mod.ts";
import type { World } from "../../core/world/world.ts";
import type { Family } from "../plan/rule.ts";
import type { HeldTables } from "../kernel/xtables/transaction.ts";
import { NFT_TABLES } from "../views/nft.ts";
import { NET_ADMIN } from "./diagnosis.ts";
import { beginProgram, iptablesProgram, type Variant } from "./programs.ts";

/** The iptables rules of one family in one back end. */
export interface Holding {
  readonly variant: "nft" | "legacy";
  readonly family: Family;
  readonly text: string;
  readonly tables: readonly SavedTable[];
  readonly own: ReadonlySet<SavedRule>;
}

/** Everything that was found. */
export interface Survey {
  /** `undefined`: this kernel has no nf_tables. */
  readonly nftTables: ReadonlySet<string> | undefined;
  /** Families and back ends that may hold rules of ours; nothing of ours is held by the others. */
  readonly holdings: readonly Holding[];
  /** Our own tables in nftables. */
  readonly nft: NftContent;
  /** Rules in iptables-legacy, of ours and of others. */
  readonly legacyRules: number;
}

const TABLES = ["nat", "mangle", "raw", "filter"];
const FAMILIES: readonly Family[] = [4, 6];

/** The programs that can read each back end: `undefined` if there is none. */
export type Readers = (variant: "nft" | "legacy") => Promise<Variant | undefined>;

/**
 * Reads the rules of every back end that may hold any of ours. No program is started for one that cannot. What `meanwhile`
 * does is done while the programs run.
 */
export async function survey<T>(
  world: World,
  system: SystemCalls,
  { names, readers }: { readonly names: OwnerNames; readonly readers: Readers },
  meanwhile: () => Promise<T>,
): Promise<readonly [Survey, T]> {
  const { tables, chains } = readNft(system);
  const legacy = await legacyTables(world, system);
  const isLegacy = (family: Family) => legacy.some((table) => table.family === family && table.mayHoldOurs);
  const sources = await Promise.all(FAMILIES.flatMap((family) => [
    ...mayHoldOurs(system, chains, family) ? [sourceOf("nft", family, readers)] : [],
    ...isLegacy(family) ? [sourceOf("legacy", family, readers)] : [],
  ]));
  const hasOurNft = NFT_TABLES.some(({ name }) => tables?.has(`inet ${name}`));
  const texts = readOneByOne(world, sources);
  const made = await meanwhile();
  const holdings: Holding[] = [];
  for (const source of sources) holdings.push(holdingOf(source, await texts(), names));
  const nft: NftContent = hasOurNft ? await readNftContent(world) : new Map();
  const legacyRules = legacy.reduce((sum, { rules }) => sum + rules, 0);
  return [{ nftTables: tables, holdings, nft, legacyRules }, made];
}

async function readNftContent(world: World): Promise<NftContent> {
  const listing: unknown = JSON.parse(await beginProgram(world, "nft", ["-j", "list", "ruleset", "inet"])());
  return isMap(listing) ? heldContent(listing) : new Map();
}

/** The packet marks that rules of ours set: by them the policy rules of an earlier run are told from those of others. */
export function marksOf({ holdings, nft }: Survey): ReadonlySet<number> {
  const inIptables = holdings.flatMap(({ tables }) => tables).flatMap(({ rules }) => rules)
    .filter(({ chain }) => isOurChain(chain))
    .map(({ options }) => options.get("tproxy-mark") ?? options.get("set-xmark") ?? "");
  const inNft = [...nft.values()].flatMap((chains) => [...chains.values()].flat())
    .map((key) => /\bmark set (\d+)/.exec(key)?.[1] ?? "");
  return new Set([...inIptables, ...inNft].map((text) => Number(text.split("/")[0])).filter((mark) => mark > 0));
}

/** What a save text holds, and which of it is ours. */
export function contentOf(text: string, names: OwnerNames): HeldTables {
  const tables = parseSave(text, names);
  return { tables, own: ownBuiltInRules([tables]) };
}

/** Our chains are there, or such rules for what comes in over IPv6 as Istio 1.0 to 1.4 made. */
function mayHoldOurs(system: SystemCalls, chains: readonly NftChain[], family: Family): boolean {
  const prefix = family === 4 ? "ip" : "ip6";
  const hasChains = chains.some(({ table, name }) =>
    isOurChain(name) && TABLES.some((known) => table === `${prefix} ${known}`)
  );
  return hasChains || family === 6 && mayRefuseIpv6(system, chains);
}

/** A netlink attribute of 20 bytes: the address `::1`. */
const COMPARED_WITH_LOOPBACK = `\x14\0\x01\0${"\0".repeat(15)}\x01`;

/** One of three rules or more is about `::1`. */
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
    throw new MeshError("This process may not read or change the rules of its network namespace", { hint: NET_ADMIN });
  }
}

/** Tables of iptables-legacy that somebody has used; the kernel tells without making one. */
async function legacyTables(world: World, system: SystemCalls): Promise<(LegacyTable & { readonly family: Family })[]> {
  const tables = await Promise.all(FAMILIES.map(async (family) => {
    const path = `/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`;
    const text = await world.files.readText(path).catch(() => "");
    const names = text.split("\n").filter((name) => TABLES.includes(name));
    return names.map((name) => ({ family, ...legacyTable(system, family, name) }));
  }));
  return tables.flat();
}

/** What `iptables-nft-save` prints instead of a table. */
const UNREADABLE = /^# Table [`'](\w+)' is incompatible/m;

/** Where rules are, and the program that reads them. */
type Source = Pick<Holding, "variant" | "family"> & { readonly command: string };

async function sourceOf(variant: Holding["variant"], family: Family, readers: Readers): Promise<Source> {
  const program = await readers(variant);
  if (program !== undefined) return { variant, family, command: iptablesProgram(program, family, "save") };
  throw new MeshError(`Rules of iptables-${variant} are here, and no program to read them`, {
    hint: `Use an image that has "${iptablesProgram(variant, family, "save")}"`,
  });
}

/**
 * Each call waits for the text of the next source; the program for the one behind it runs by then. Not all at once: there
 * may be no processor for them, and who starts a program is held up until it runs.
 */
function readOneByOne(world: World, sources: readonly Source[]): () => Promise<string> {
  const left = sources.map(({ command }) => command);
  const begin = () => {
    const command = left.shift();
    return command === undefined ? undefined : beginProgram(world, command, []);
  };
  let running = begin();
  return async () => {
    const text = await running?.() ?? "";
    running = begin();
    return text;
  };
}

function holdingOf({ variant, family, command }: Source, text: string, names: OwnerNames): Holding {
  const unreadable = UNREADABLE.exec(text)?.[1];
  if (unreadable !== undefined && TABLES.includes(unreadable)) {
    const message = `"${command}" cannot read table "${unreadable}", in which rules of ours are: ${
      text.trim().split("\n")[0]
    }`;
    throw new MeshError(message, {
      hint:
        "Somebody else added with nft what iptables does not know: take that out, or use --native-nftables in a new pod",
    });
  }
  return { variant, family, text, ...contentOf(text, names) };
}

/** Whether rules of ours are among what is held. */
export function holdsOurs({ tables, own }: Holding): boolean {
  return own.size > 0 || tables.some(({ chains }) => chains.some(isOurChain));
}

/** How many of the rules in iptables-legacy are not ours. */
export function foreignLegacyRules({ legacyRules, holdings }: Survey): number {
  const ours = holdings.filter(({ variant }) => variant === "legacy").flatMap(({ tables, own }) =>
    tables.flatMap(({ rules }) => rules).filter((rule) => own.has(rule) || isOurChain(rule.chain))
  );
  return legacyRules - ours.length;
}
