import { makeCanonical } from "./canonical.ts";
import { putBehindRuntime } from "./behind_runtime.ts";
import { runCommands, settledCaches } from "./code_cache.ts";
import { type Script, START, writePack } from "./pack.ts";
import { type Platform, thisPlatform } from "./platforms.ts";
import { mustRun, say } from "./run.ts";
import { preparedRuntime } from "./runtime.ts";
import { checkBundler } from "./bundler.ts";
import { fillIn, sourceState } from "./source_state.ts";
import { sha256OfFile } from "./wheel.ts";

/** The folders of one build. */
export interface Build {
  readonly root: string;
  readonly cache: string;
  /** A folder for this build alone. */
  readonly work: string;
}

/** A program to compile. */
export interface Program {
  readonly entry: string;
  /** The pack that the entry loads, if any. */
  readonly pack?: string;
  readonly v8Flags?: readonly string[];
}

/** A variant of the same scripts: V8's flags are fixed when a program is compiled. */
export interface Variant {
  /** The path below `dist`. */
  readonly path: string;
  readonly v8Flags: readonly string[];
}

/**
 * For people and CI: fast. A young generation of 8 MB saves `inject` of a file its only collection, 3 of 66 ms, and costs 2,000
 * Deployments 6 MB; one that grows takes 18 to 50 MB more for large inputs. Without Sparkplug, V8's compiler between interpreter
 * and optimizer, a start takes 5% less processor time and 2,000 Deployments take the same. TurboFan, V8's slowest compiler, gets
 * functions after 100,000 calls, not after 3,000: 2,000 Deployments end before its code pays, webhooks do not.
 * A regular expression becomes machine code at once, not bytecode first: most are used more than once, 1 of 50 ms.
 * docs/decisions/build.md has what was tried without success.
 */
export const COMMAND: Variant = {
  path: "kubectl-mesh",
  v8Flags: [
    "--min-semi-space-size=8",
    "--max-semi-space-size=8",
    "--no-sparkplug",
    "--invocation-count-for-turbofan=100000",
    "--no-regexp-tier-up",
  ],
};

const SMALL_HEAP = ["--lite-mode", "--max-semi-space-size=1"];

/** Otherwise V8 collects the garbage of probes only after tens of thousands of requests. */
const EARLY_COLLECTION = ["--initial-old-space-size=2", "--heap-growing-percent=20"];

/**
 * For containers, where the agent stays for as long as the pod does: V8 compiles nothing to machine code and keeps its heap
 * small. After 10,000 requests bench/agent/agent.ts shows 67 instead of 87 MB; a large `inject` would take several times as long.
 * Its name does not begin with `kubectl-`: kubectl takes `kubectl-mesh-agent` on PATH for `kubectl mesh agent`.
 */
export const CONTAINER: Variant = {
  path: "agent/mesh-agent",
  v8Flags: [...SMALL_HEAP, ...EARLY_COLLECTION],
};

/**
 * Checks and bundles the program; returns the folder of the bundle, whose entry is `main.js`. A bundle starts faster than
 * its modules, and holds only what is imported. What `import()` loads is a file of its own, read when it is loaded.
 */
export async function bundle(build: Build): Promise<string> {
  const config = ["--config", `${build.root}/deno.json`, "--frozen"];
  const entry = `${build.root}/src/main.ts`;
  say("compile: checking types");
  await mustRun([Deno.execPath(), "check", "--quiet", ...config, entry]);
  const folder = `${build.work}/bundle`;
  const output = ["--platform", "deno", "--code-splitting", "--outdir", folder];
  await checkBundler(Deno.env.get("DENO_DIR") ?? `${build.cache}/deno-dir`);
  say("compile: bundling");
  // The bundler writes paths from the working folder.
  await mustRun([Deno.execPath(), "bundle", "--quiet", ...config, ...output, entry], {}, build.root);
  await makeCanonical(folder);
  await fillIn(folder, await sourceState(build.root));
  return folder;
}

/**
 * V8's flags of the program that makes code caches, beside the flags of a variant. Without them chance decides when V8 drops
 * old bytecode, and what it records for later optimization.
 */
const WARM_UP_FLAGS = ["--no-flush-bytecode", "--no-profile-guided-optimization", "--no-enable-lazy-source-positions"];

/** A binary to build. */
export interface Target {
  readonly variant: Variant;
  readonly platform: Platform;
  readonly output: string;
}

/**
 * Compiles the scripts for a platform. `caches` are the folder of {@link warmCaches}, if the platform is this machine's:
 * the runtimes of other platforms cannot run here.
 */
export async function compileScripts(
  build: Build,
  scripts: readonly Script[],
  { variant: { path, v8Flags }, platform, output }: Target,
  caches?: string,
): Promise<void> {
  await writePack(packOf(build), scripts);
  if (caches !== undefined && isThisMachine(platform)) {
    const settle = await cacheProgram(build, "settle", v8Flags);
    await writePack(packOf(build), await settledCaches(scripts, settle, caches, `${build.work}/caches/${path}`));
  }
  const program = { entry: await loader(build, "program"), pack: packOf(build), v8Flags };
  await compile(build, program, platform, output);
}

/** Whether programs of a platform run on this machine. */
export function isThisMachine({ target }: Platform): boolean {
  return target === thisPlatform().target;
}

/**
 * The folder of {@link warmCaches}, for a release that is built again: `kept` is taken if it is there, so that two builds can differ in
 * nothing else; otherwise the new caches are kept there.
 */
export async function sharedCaches(
  build: Build,
  scripts: readonly Script[],
  kept: string | undefined,
): Promise<string> {
  if (kept === undefined) return await warmCaches(build, scripts);
  if (await sha256OfFile(`${kept}/${START}`) !== undefined) return kept;
  const made = await warmCaches(build, scripts);
  await Deno.mkdir(kept, { recursive: true });
  for (const { name } of scripts) await Deno.copyFile(`${made}/${name}`, `${kept}/${name}`);
  return kept;
}

/**
 * Runs common commands and keeps V8's bytecode of the functions that ran: otherwise a small `inject` spends half of its time in
 * compiling functions. Returns the folder of the caches.
 */
export async function warmCaches(build: Build, scripts: readonly Script[]): Promise<string> {
  const folder = `${build.work}/caches/warm`;
  await writePack(packOf(build), scripts);
  const warmUp = await cacheProgram(build, "warm_up", [...COMMAND.v8Flags, ...WARM_UP_FLAGS]);
  await runCommands(build.root, warmUp, folder, scripts);
  return folder;
}

function packOf({ work }: Build): string {
  return `${work}/program.pack`;
}

async function cacheProgram(
  build: Build,
  name: "warm_up" | "settle",
  v8Flags: readonly string[],
): Promise<string> {
  const platform = thisPlatform();
  const file = `${build.work}/${name}${platform.extension}`;
  await compile(build, { entry: await loader(build, name), pack: packOf(build), v8Flags }, platform, file);
  return file;
}

/** Bundles the program that loads the pack, into the folder of the pack: the binary has both in one folder too. */
async function loader(build: Build, name: "program" | "warm_up" | "settle"): Promise<string> {
  const output = `${build.work}/${name}.js`;
  const source = `${build.root}/tools/compile/${name}.ts`;
  await mustRun([
    Deno.execPath(),
    "bundle",
    "--quiet",
    "--no-config",
    "--platform",
    "deno",
    "--output",
    output,
    source,
  ]);
  return output;
}

/**
 * Compiles a program for a platform. Deno's own code cache is off: it would be read from a shared folder without a check of its
 * owner. No configuration and no npm: otherwise the binary would contain every package of deno.json.
 */
export async function compile(build: Build, program: Program, platform: Platform, output: string): Promise<void> {
  const { entry, pack, v8Flags = [] } = program;
  const isElf = platform.format === "elf";
  const runtime = await preparedRuntime(platform, build.cache, build.work);
  const beside = `${build.work}/${platform.name}${platform.extension}`;
  // Deno embeds the times of files.
  for (const file of pack === undefined ? [entry] : [entry, pack]) await Deno.utime(file, 0, 0);
  await mustRun([
    ...[
      Deno.execPath(),
      "compile",
      "--quiet",
      "--no-config",
      "--no-lock",
      "--no-npm",
      "--no-remote",
      "--no-check",
    ],
    // Deno's UDP sockets are unstable.
    ...["--no-code-cache", "--no-prompt", "--allow-all", "--unstable-net"],
    ...(v8Flags.length === 0 ? [] : [`--v8-flags=${v8Flags.join(",")}`]),
    ...(pack === undefined || isElf ? [] : ["--include", pack]),
    ...["--target", platform.target, "--output", beside, entry],
  ], { DENORT_BIN: runtime });
  if (pack !== undefined && isElf) await putBehindRuntime(beside, pack);
  await Deno.mkdir(output.slice(0, output.lastIndexOf("/")), { recursive: true });
  await putInPlace(beside, output);
}

/**
 * Copies the program before the rename: Deno writes it in small pieces, which Linux keeps as small pages while the file is
 * cached. That costs each start 4 of 30 ms.
 */
async function putInPlace(built: string, output: string): Promise<void> {
  const copy = `${output}.new`;
  await Deno.copyFile(built, copy);
  await Deno.rename(copy, output);
  await Deno.remove(built);
}
