/** The programs that rules get into the kernel by, and how they are run. */
import { MeshError } from "../../core/errors.ts";
import type { Run, RunResult, World } from "../../core/world/world.ts";
import type { Family } from "../plan/rule.ts";
import { diagnose } from "./diagnosis.ts";

/** Which set of iptables programs: `plain` are those without a suffix, where no others are there. */
export type Variant = "nft" | "legacy" | "plain";

/** `iptables-nft-save`, `ip6tables-restore`. */
export function iptablesProgram(variant: Variant, family: Family, verb: "save" | "restore"): string {
  return `${family === 4 ? "iptables" : "ip6tables"}${variant === "plain" ? "" : `-${variant}`}-${verb}`;
}

const DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Where a program is, in the first of the folders of PATH that has it; `undefined` if it is in none. */
export function findProgram(world: World, name: string): Promise<string | undefined> {
  return findIn(world, name, foldersOf(world));
}

/** Whether a program is in any folder of PATH. Those of administrators are looked at first: what is asked for is there. */
export async function isOnPath(world: World, name: string): Promise<boolean> {
  const folders = foldersOf(world);
  const isFirst = (folder: string) => folder.endsWith("sbin");
  const sorted = [...folders.filter(isFirst), ...folders.filter((folder) => !isFirst(folder))];
  return await findIn(world, name, sorted) !== undefined;
}

function foldersOf(world: World): string[] {
  return (world.env.get("PATH") ?? DEFAULT_PATH).split(":");
}

async function findIn(world: World, name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    const path = `${folder}/${name}`;
    if ((await world.files.facts(path).catch(() => undefined))?.kind === "file") return path;
  }
  return undefined;
}

const TIME_LIMIT = 60_000;

/** Runs a program with the messages of the C locale; what it says on failure is explained. */
export async function runProgram(
  world: World,
  command: string,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const run = runOf(command, args, stdin);
  return textOf(run, await world.processes.run(run));
}

/** Starts one that only looks, and ends soon; the function waits for what it prints. */
export function beginProgram(
  world: World,
  command: string,
  args: readonly string[],
  stdin?: string,
): () => Promise<string> {
  const run = runOf(command, args, stdin);
  const end = world.processes.begin(run);
  return async () => textOf(run, await end());
}

type ProgramRun = Run & { readonly args: readonly string[] };

function runOf(command: string, args: readonly string[], stdin: string | undefined): ProgramRun {
  const run = { command, args, env: { LC_ALL: "C" }, timeoutMilliseconds: TIME_LIMIT };
  return stdin === undefined ? run : { ...run, stdin };
}

function textOf({ command, args, stdin }: ProgramRun, result: RunResult): string {
  if (result.code === 0) return result.stdout;
  throw failure(command, args, result, stdin);
}

function failure(command: string, args: readonly string[], result: RunResult, stdin: string | undefined): MeshError {
  if (result.code === 127 && result.stdout === "") {
    return new MeshError(`The program "${command}" is not on PATH`, {
      hint: "Use an image that has iptables and nftables",
    });
  }
  const said = result.timedOut
    ? `no end within ${TIME_LIMIT / 1000} s`
    : result.stderr.trim().replace(/\s*\n\s*/g, "; ");
  const { line, hint } = diagnose(said, stdin);
  const at = line === undefined ? "" : ` at "${line}"`;
  const message = `"${[command, ...args].join(" ")}" failed with exit code ${result.code}${at}: ${said}`;
  return new MeshError(message, hint === undefined ? {} : { hint });
}
