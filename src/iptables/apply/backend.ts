/** Which set of iptables programs is used: decided by what is there, with its evidence, the same on every run. */
import { MeshError } from "../../core/errors.ts";
import type { World } from "../../core/world/world.ts";
import { findProgram, iptablesProgram, isOnPath, runProgram, type Variant } from "./programs.ts";
import { foreignLegacyRules, holdsOurs, type Readers, type Survey } from "./survey.ts";

/** A choice and what it was made by. */
export interface BackendChoice {
  readonly variant: Variant;
  /** The back end whose rules these programs change. */
  readonly holds: "nft" | "legacy";
  readonly evidence: string;
}

/**
 * The programs for each back end: those without a suffix stand in where those with one are not on PATH. Each is looked
 * for when it is first asked for, once.
 */
export function readersOf(world: World): Readers {
  const plainHolds = once((plain: "plain") => backendOf(world, iptablesProgram(plain, 4, "restore")));
  return once(async (variant) => {
    if (await isOnPath(world, iptablesProgram(variant, 4, "restore"))) return variant;
    return await plainHolds("plain") === variant ? "plain" : undefined;
  });
}

/** The function, called once for each argument. */
function once<In, Out>(find: (what: In) => Promise<Out>): (what: In) => Promise<Out> {
  const known = new Map<In, Promise<Out>>();
  return (what) => {
    const found = known.get(what) ?? find(what);
    known.set(what, found);
    return found;
  };
}

/** The back end of `iptables-restore`: its file tells, as the programs for nftables name it; a script is asked. */
async function backendOf(world: World, program: string): Promise<"nft" | "legacy" | undefined> {
  const path = await findProgram(world, program);
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

/** The first row whose condition holds, and that there is a program for, decides. */
export async function chooseBackend(
  survey: Survey,
  programs: Readers,
  forced: "" | "legacy" | "nft",
): Promise<BackendChoice> {
  if (forced !== "") return await forcedChoice(forced, programs);
  const ours = (variant: "nft" | "legacy") =>
    survey.holdings.some((holding) => holding.variant === variant && holdsOurs(holding));
  const foreign = foreignLegacyRules(survey);
  const hasNft = survey.nftTables !== undefined;
  const rows: readonly (readonly [boolean, "nft" | "legacy", string])[] = [
    [foreign > 0, "legacy", `iptables-legacy holds ${foreign} rules of others`],
    [hasNft && ours("nft"), "nft", "iptables-nft holds rules of an earlier run"],
    [ours("legacy"), "legacy", "iptables-legacy holds rules of an earlier run"],
    [hasNft, "nft", "the kernel has nf_tables, and iptables-legacy holds no rules"],
    [true, "legacy", hasNft ? "there are no programs for nf_tables" : "the kernel has no nf_tables"],
  ];
  for (const [isSo, holds, evidence] of rows) {
    const variant = isSo ? await programs(holds) : undefined;
    if (variant !== undefined) return { variant, holds, evidence };
  }
  throw await noPrograms(hasNft, programs);
}

async function noPrograms(hasNft: boolean, programs: Readers): Promise<MeshError> {
  if (!hasNft && await programs("nft") !== undefined) {
    return new MeshError("This kernel has no nf_tables, and there is no program for its older tables", {
      hint: "Run on the node: modprobe nf_tables, or use an image that has iptables-legacy-restore",
    });
  }
  return new MeshError('The program "iptables-restore" is not on PATH', {
    hint: "Use an image that has iptables, or --native-nftables",
  });
}

async function forcedChoice(forced: "legacy" | "nft", programs: Readers): Promise<BackendChoice> {
  const variant = await programs(forced);
  if (variant === undefined) {
    throw new MeshError(`The program "${iptablesProgram(forced, 4, "restore")}" is not on PATH`, {
      hint: `Leave out --force-iptables-binary ${forced}, or use an image that has it`,
    });
  }
  return { variant, holds: forced, evidence: "it was forced" };
}
