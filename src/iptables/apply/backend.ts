/** Which set of iptables programs is used: decided by what is there, with its evidence, the same on every run. */
import { MeshError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import { findProgram, iptablesProgram, type Variant } from "./programs.ts";
import { foreignRules, holdsOurs, type Survey } from "./survey.ts";

/** The programs that are on PATH. */
export type Available = ReadonlySet<Variant>;

/** A choice and what it was made by. */
export interface BackendChoice {
  readonly variant: Variant;
  /** The back end whose rules these programs change. */
  readonly holds: "nft" | "legacy";
  readonly evidence: string;
}

const VARIANTS: readonly Variant[] = ["nft", "legacy", "plain"];

/** Looks for the programs. Nothing is started. */
export async function availableVariants(world: World): Promise<Available> {
  const found = await Promise.all(
    VARIANTS.map((variant) => findProgram(world, iptablesProgram(variant, 4, "restore"))),
  );
  return new Set(VARIANTS.filter((_, at) => found[at] !== undefined));
}

/** The first row whose condition holds decides. */
export function chooseBackend(survey: Survey, available: Available, forced: "" | "legacy" | "nft"): BackendChoice {
  if (forced !== "") return forcedChoice(forced, available);
  const held = (variant: "nft" | "legacy") => survey.holdings.filter((holding) => holding.variant === variant);
  const foreign = (variant: "nft" | "legacy") => held(variant).reduce((sum, holding) => sum + foreignRules(holding), 0);
  const hasNft = survey.nftTables !== undefined;
  const rows: readonly (readonly [boolean, Variant, string])[] = [
    [foreign("legacy") > 0, "legacy", `iptables-legacy holds ${foreign("legacy")} rules of others`],
    [hasNft && held("nft").some(holdsOurs), "nft", "iptables-nft holds rules of an earlier run"],
    [held("legacy").some(holdsOurs), "legacy", "iptables-legacy holds rules of an earlier run"],
    [hasNft, "nft", "the kernel has nf_tables, and iptables-legacy holds no rules"],
    [true, "legacy", "the kernel has no nf_tables"],
  ];
  const usable = rows.filter(([holds, variant]) => holds && (available.has(variant) || available.has("plain")));
  const [, variant, evidence] = usable[0] ?? rows.find(([holds, name]) => holds && available.has(name)) ?? [];
  if (variant === undefined || evidence === undefined) {
    throw new MeshError('The program "iptables-restore" is not on PATH', {
      hint: "Use an image that has iptables, or --native-nftables",
    });
  }
  return {
    variant: available.has(variant) ? variant : "plain",
    holds: variant === "legacy" ? "legacy" : "nft",
    evidence,
  };
}

function forcedChoice(forced: "legacy" | "nft", available: Available): BackendChoice {
  if (!available.has(forced)) {
    throw new MeshError(`The program "${iptablesProgram(forced, 4, "restore")}" is not on PATH`, {
      hint: `Leave out --force-iptables-binary ${forced}, or use an image that has it`,
    });
  }
  return { variant: forced, holds: forced, evidence: "it was forced" };
}
