/** Chooses the iptables programs from the detected capabilities, and states the evidence. */
import { MeshError } from "../../base/errors.ts";
import type { World } from "../../platform/world.ts";
import { type Access, iptablesProgram, runProgram } from "./programs.ts";
import { foreignLegacyRules, holdsOwned, type Readers, type Survey } from "./survey.ts";

export interface BackendChoice {
  readonly variant: Access;
  /** The back end that these programs change. */
  readonly holds: "nft" | "legacy";
  readonly evidence: string;
}

/** How rules reach the kernel. With `netlink`, only nf_tables rules are sent over netlink; programs do the rest. */
export type Via = "netlink" | "programs";

/**
 * Returns a function that finds the programs of a back end, and caches the results. Prefers names with a suffix such as
 * `-nft`. Uses a name without a suffix only if the program belongs to the same back end. With netlink, iptables-nft
 * needs no program.
 */
export function readersOf(world: World, via: Via): Readers {
  const known = new Map<"nft" | "legacy", Promise<Access | undefined>>();
  return (variant) => {
    const access = known.get(variant) ?? accessTo(world, via, variant);
    known.set(variant, access);
    return access;
  };
}

async function accessTo(world: World, via: Via, variant: "nft" | "legacy"): Promise<Access | undefined> {
  if (via === "netlink" && variant === "nft") return "netlink";
  if (world.processes.find(iptablesProgram(variant, 4, "restore")) !== undefined) return variant;
  const plain = iptablesProgram("plain", 4, "restore");
  if (world.processes.find(plain) === undefined) return undefined;
  // Releases before 1.8, which have only iptables-legacy, refuse the flag.
  const version = await runProgram(world, plain, ["--version"]).catch(() => "");
  return version.includes("(nf_tables)") === (variant === "nft") ? "plain" : undefined;
}

/** Chooses the back end of the first row below whose condition holds and whose programs exist. */
export async function chooseBackend(
  survey: Survey,
  programs: Readers,
  forced: "" | "legacy" | "nft",
): Promise<BackendChoice> {
  const isOwned = (variant: "nft" | "legacy") =>
    survey.holdings.some((holding) => holding.variant === variant && holdsOwned(holding));
  const foreign = foreignLegacyRules(survey);
  const hasNft = survey.ruleset !== undefined;
  const noLegacy = foreign > 0
    ? `the image has no program for iptables-legacy, which has ${foreign} foreign rules`
    : "iptables-legacy has no rules";
  const rows: readonly (readonly [boolean, "nft" | "legacy", string])[] = forced !== "" ? [[true, forced, FORCED]] : [
    [foreign > 0, "legacy", `iptables-legacy has ${foreign} foreign rules`],
    [hasNft && isOwned("nft"), "nft", "iptables-nft has rules of an earlier run"],
    [isOwned("legacy"), "legacy", "iptables-legacy has rules of an earlier run"],
    [hasNft, "nft", `the kernel has nf_tables, and ${noLegacy}`],
    [true, "legacy", hasNft ? "no program for nf_tables is on PATH" : "the kernel has no nf_tables"],
  ];
  for (const [isSo, holds, evidence] of rows) {
    const variant = isSo ? await programs(holds) : undefined;
    if (variant !== undefined) return { variant, holds, evidence };
  }
  throw noPrograms(hasNft, forced);
}

const FORCED = "a flag selects it";

function noPrograms(hasNft: boolean, forced: "" | "legacy" | "nft"): MeshError {
  if (forced !== "") {
    return new MeshError(`The program "${iptablesProgram(forced, 4, "restore")}" is not on PATH`, {
      hint: `Leave out --force-iptables-binary ${forced}, or use an image that contains the program`,
    });
  }
  return hasNft
    ? new MeshError('The program "iptables-restore" is not on PATH', {
      hint: "Use --via netlink, which needs no program, or an image that has iptables",
    })
    : new MeshError("This kernel has no nf_tables, and no program for iptables-legacy is on PATH", {
      hint: "Run on the node: modprobe nf_tables, or use an image that has iptables-legacy-restore",
    });
}
