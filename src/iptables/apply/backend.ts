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
  const plainHolds = once((plain: "plain") => backendOf(world, iptablesProgram(plain, 4, "restore")));
  return once(async (variant): Promise<Access | undefined> => {
    if (via === "netlink" && variant === "nft") return "netlink";
    if (world.processes.find(iptablesProgram(variant, 4, "restore")) !== undefined) return variant;
    return await plainHolds("plain") === variant ? "plain" : undefined;
  });
}

function once<In, Out>(find: (what: In) => Promise<Out>): (what: In) => Promise<Out> {
  const known = new Map<In, Promise<Out>>();
  return (what) => {
    const found = known.get(what) ?? find(what);
    known.set(what, found);
    return found;
  };
}

/**
 * Returns the back end of a program. A binary for nf_tables contains "(nf_tables)". A script is run with `--version`.
 */
async function backendOf(world: World, program: string): Promise<"nft" | "legacy" | undefined> {
  const path = world.processes.find(program);
  if (path === undefined) return undefined;
  const text = await textOf(world, path);
  const version = text.startsWith("#!") ? await runProgram(world, program, ["--version"]) : text;
  return version.includes("(nf_tables)") ? "nft" : "legacy";
}

async function textOf(world: World, path: string): Promise<string> {
  const decoder = new TextDecoder("latin1");
  let text = "";
  for await (const chunk of world.files.chunks(path)) text += decoder.decode(chunk, { stream: true });
  return text;
}

/** Chooses the back end of the first row below whose condition holds and whose programs exist. */
export async function chooseBackend(
  survey: Survey,
  programs: Readers,
  forced: "" | "legacy" | "nft",
): Promise<BackendChoice> {
  if (forced !== "") return await forcedChoice(forced, programs);
  const isOwned = (variant: "nft" | "legacy") =>
    survey.holdings.some((holding) => holding.variant === variant && holdsOwned(holding));
  const foreign = foreignLegacyRules(survey);
  const hasNft = survey.ruleset !== undefined;
  const rows: readonly (readonly [boolean, "nft" | "legacy", string])[] = [
    [foreign > 0, "legacy", `iptables-legacy has ${foreign} foreign rules`],
    [hasNft && isOwned("nft"), "nft", "iptables-nft has rules of an earlier run"],
    [isOwned("legacy"), "legacy", "iptables-legacy has rules of an earlier run"],
    [
      hasNft,
      "nft",
      foreign > 0
        ? `the kernel has nf_tables, and the image has no program for iptables-legacy, which has ${foreign} foreign rules`
        : "the kernel has nf_tables, and iptables-legacy has no rules",
    ],
    [true, "legacy", hasNft ? "no program for nf_tables is on PATH" : "the kernel has no nf_tables"],
  ];
  for (const [isSo, holds, evidence] of rows) {
    const variant = isSo ? await programs(holds) : undefined;
    if (variant !== undefined) return { variant, holds, evidence };
  }
  throw await noPrograms(hasNft, programs);
}

async function noPrograms(hasNft: boolean, programs: Readers): Promise<MeshError> {
  if (!hasNft && await programs("nft") !== undefined) {
    return new MeshError("This kernel has no nf_tables, and no program for iptables-legacy is on PATH", {
      hint: "Run on the node: modprobe nf_tables, or use an image that has iptables-legacy-restore",
    });
  }
  return new MeshError('The program "iptables-restore" is not on PATH', {
    hint: "Use --via netlink, which needs no program, or an image that has iptables",
  });
}

async function forcedChoice(forced: "legacy" | "nft", programs: Readers): Promise<BackendChoice> {
  const variant = await programs(forced);
  if (variant === undefined) {
    throw new MeshError(`The program "${iptablesProgram(forced, 4, "restore")}" is not on PATH`, {
      hint: `Leave out --force-iptables-binary ${forced}, or use an image that contains the program`,
    });
  }
  return { variant, holds: forced, evidence: "a flag selects it" };
}
