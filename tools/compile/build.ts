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

/** The folders that one build uses. */
export interface Build {
  readonly root: string;
  readonly cache: string;
  /** A temporary folder that no other build uses. */
  readonly work: string;
}

/** A program to compile. */
export interface Program {
  readonly entry: string;
  /** The pack that the program loads its scripts from. */
  readonly pack?: string;
  readonly v8Flags?: readonly string[];
}

/** A binary with its own V8 flags. The scripts are the same, but V8's flags are fixed when a program is compiled. */
export interface Variant {
  /** The path below `dist`. */
  readonly path: string;
  readonly v8Flags: readonly string[];
}

/**
 * The fast build, for people and CI. A young generation of 8 MB saves `inject` of one file its only garbage collection
 * (3 of 66 ms) and takes 6 MB more for 2,000 Deployments; a young generation that grows takes 18 to 50 MB more for
 * large inputs. Without Sparkplug, V8's compiler between interpreter and optimizer, a start takes 5% less processor
 * time, and 2,000 Deployments take as long as before. TurboFan, V8's slowest compiler, gets functions after 100,000
 * calls instead of 3,000: a run over 2,000 Deployments is over before TurboFan's code pays off; webhooks run long
 * enough. Regular expressions are compiled to machine code right away, without bytecode first, because most are used
 * more than once; this saves 1 of 50 ms. docs/decisions/build.md lists what was tried without success.
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

/** Without these flags, V8 collects the garbage from probes only after tens of thousands of requests. */
const EARLY_COLLECTION = ["--initial-old-space-size=2", "--heap-growing-percent=20"];

/**
 * The small build, for containers, where the agent runs as long as the pod does. V8 compiles nothing to machine code
 * and keeps its heap small: after 10,000 requests, bench/agent/agent.ts measures 67 MB instead of 87 MB. A large
 * `inject` would take several times as long. The file name does not begin with `kubectl-` because kubectl would run a
 * `kubectl-mesh-agent` on the PATH as `kubectl mesh agent`.
 */
export const CONTAINER: Variant = {
  path: "agent/mesh-agent",
  v8Flags: [...SMALL_HEAP, ...EARLY_COLLECTION],
};

/**
 * Type-checks and bundles the program. Returns the folder of the bundle, whose entry is `main.js`. A bundle starts
 * faster than its modules and contains only what is imported. Code that `import()` loads is in separate files, which
 * are read when they are loaded.
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
  // The bundler writes paths relative to the working folder.
  await mustRun([Deno.execPath(), "bundle", "--quiet", ...config, ...output, entry], {}, build.root);
  await makeCanonical(folder);
  await fillIn(folder, await sourceState(build.root));
  return folder;
}

/**
 * V8 flags for the program that makes code caches, in addition to the flags of the variant. Without them it depends on
 * timing when V8 drops old bytecode and what it records for later optimization.
 */
const WARM_UP_FLAGS = ["--no-flush-bytecode", "--no-profile-guided-optimization", "--no-enable-lazy-source-positions"];

/** A binary to build. */
export interface Target {
  readonly variant: Variant;
  readonly platform: Platform;
  readonly output: string;
}

/**
 * Compiles the scripts for a platform. `caches` is the folder that {@link warmCaches} returns; pass it only for the
 * platform of this machine, because the runtimes of other platforms cannot run here.
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

/** Returns whether programs for the platform run on this machine. */
export function isThisMachine({ target }: Platform): boolean {
  return target === thisPlatform().target;
}

/**
 * Returns a folder of code caches that several builds of one release can share, so that the caches are not a difference
 * between them. Uses the folder `kept` if it exists; otherwise makes caches with {@link warmCaches} and copies them to
 * `kept`.
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
 * Runs common commands and saves V8's bytecode of the functions that ran. Without it, a small `inject` spends half of
 * its time compiling functions. Returns the folder of the caches.
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

/**
 * Bundles the program that loads the pack, into the same folder as the pack, because the binary also keeps them
 * together.
 */
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
 * Compiles a program for a platform. Deno's own code cache is off: Deno would read it from a shared folder without
 * checking the owner. The configuration and npm are off too; otherwise the binary would contain every package in
 * deno.json.
 */
export async function compile(build: Build, program: Program, platform: Platform, output: string): Promise<void> {
  const { entry, pack, v8Flags = [] } = program;
  const isElf = platform.format === "elf";
  const runtime = await preparedRuntime(platform, build.cache, build.work);
  const beside = `${build.work}/${platform.name}${platform.extension}`;
  // Deno embeds the modification times of files.
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
    // Deno marks UDP sockets as unstable.
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
 * Copies the program before it is renamed. Deno writes it in small pieces, which Linux keeps in its cache as small
 * pages, and these add 4 ms to a start of 30 ms.
 */
async function putInPlace(built: string, output: string): Promise<void> {
  const copy = `${output}.new`;
  await Deno.copyFile(built, copy);
  await Deno.rename(copy, output);
  await Deno.remove(built);
}
