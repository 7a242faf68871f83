/** What a network namespace holds of ours, read without changing anything in it. */
import { MeshError } from "../../core/errors.ts";
import { nftTables } from "../kernel/nft_tables.ts";
import { ownBuiltInRules } from "../kernel/ours.ts";
import type { OwnerNames } from "../kernel/rule_words.ts";
import { parseSave, type SavedRule, type SavedTable } from "../kernel/saved.ts";
import { EPERM, type SystemCalls, SystemError } from "../kernel/system_calls.ts";
import type { World } from "../../core/world/world.ts";
import type { Family } from "../plan/rule.ts";
import { iptablesProgram, runProgram, type Variant } from "./programs.ts";

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
  /** Families and back ends that hold a table; nothing is held by the others. */
  readonly holdings: readonly Holding[];
}

const TABLES = ["nat", "mangle", "raw", "filter"];
const FAMILIES: readonly Family[] = [4, 6];

/** The programs that can read each back end: `undefined` if there is none. */
export type Readers = (variant: "nft" | "legacy", family: Family) => Variant | undefined;

/** Reads the rules of every back end that holds any. Without a table in it, no program is started for it. */
export async function survey(world: World, system: SystemCalls, names: OwnerNames, readers: Readers): Promise<Survey> {
  const tables = readNftTables(system);
  const read = await Promise.all(FAMILIES.flatMap((family) => [
    readHolding(
      world,
      "nft",
      family,
      TABLES.some((table) => tables?.has(`${family === 4 ? "ip" : "ip6"} ${table}`)),
      readers,
    ),
    legacyTables(world, family).then((held) => readHolding(world, "legacy", family, held.length > 0, readers)),
  ]));
  const found = read.filter((holding) => holding !== undefined)
    .map((holding) => ({ ...holding, tables: parseSave(holding.text, names) }));
  const withOwner = (variant: string) =>
    ownBuiltInRules(found.filter((holding) => holding.variant === variant).map(({ tables }) => tables));
  const own = { nft: withOwner("nft"), legacy: withOwner("legacy") };
  return { nftTables: tables, holdings: found.map((holding) => ({ ...holding, own: own[holding.variant] })) };
}

function readNftTables(system: SystemCalls): ReadonlySet<string> | undefined {
  try {
    return nftTables(system);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    if (error.errno !== EPERM) return undefined;
    throw new MeshError("This process may not read or change the rules of its network namespace", {
      hint:
        'The container needs the capability NET_ADMIN (securityContext.capabilities.add: ["NET_ADMIN", "NET_RAW"]) and user 0',
    });
  }
}

/** Tables of iptables-legacy that somebody has used; the kernel tells without making one. */
async function legacyTables(world: World, family: Family): Promise<string[]> {
  const path = `/proc/net/${family === 4 ? "ip" : "ip6"}_tables_names`;
  const text = await world.files.readText(path).catch(() => "");
  return text.split("\n").filter((name) => TABLES.includes(name));
}

async function readHolding(world: World, variant: "nft" | "legacy", family: Family, isHeld: boolean, readers: Readers) {
  const program = isHeld ? readers(variant, family) : undefined;
  if (program === undefined) return undefined;
  return { variant, family, text: await runProgram(world, iptablesProgram(program, family, "save"), []) };
}

/** Whether rules of ours are among what is held. */
export function holdsOurs({ tables, own }: Holding): boolean {
  return own.size > 0 || tables.some(({ chains }) => chains.some((chain) => chain.startsWith("ISTIO_")));
}

/** How many rules are held that are not ours. */
export function foreignRules({ tables, own }: Holding): number {
  return tables.flatMap(({ rules }) => rules).filter((rule) => !own.has(rule) && !rule.chain.startsWith("ISTIO_"))
    .length;
}
