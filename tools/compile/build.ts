import { putBehindRuntime } from "./behind_runtime.ts";
import { makeCaches } from "./code_cache.ts";
import { type Script, writePack } from "./pack.ts";
import { type Platform, thisPlatform } from "./platforms.ts";
import { mustRun } from "./run.ts";
import { runtimeFor } from "./runtime.ts";

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
 * Deployments 6 MB. Without Sparkplug, V8's compiler between interpreter and optimizer, a start takes 5% less processor time and
 * 2,000 Deployments take the same. docs/decisions/build.md has what was tried without success.
 */
export const COMMAND: Variant = { path: "kubectl-mesh", v8Flags: ["--min-semi-space-size=8", "--no-sparkplug"] };

const SMALL_HEAP = ["--lite-mode", "--max-semi-space-size=1"];

/** Otherwise V8 collects the garbage of probes only after tens of thousands of requests. */
const EARLY_COLLECTION = ["--initial-old-space-size=2", "--heap-growing-percent=20"];

/**
 * For containers, where the agent stays for as long as the pod does: V8 compiles nothing to machine code and keeps its heap
 * small. After 10,000 requests bench/agent.ts shows 67 instead of 87 MB; a large `inject` would take several times as long.
 * Its name does not begin with `kubectl-`: kubectl takes `kubectl-mesh-agent` on PATH for `kubectl mesh agent`.
 */
export const CONTAINER: Variant = { path: "agent/mesh-agent", v8Flags: [...SMALL_HEAP, ...EARLY_COLLECTION] };

/**
 * Checks and bundles the program; returns the folder of the bundle, whose entry is `main.js`. A bundle starts faster than
 * its modules, and holds only what is imported. What `import()` loads is a file of its own, read when it is loaded.
 */
export async function bundle(build: Build): Promise<string> {
  const config = ["--config", `${build.root}/deno.json`, "--frozen"];
  const entry = `${build.root}/src/main.ts`;
  await mustRun([Deno.execPath(), "check", "--quiet", ...config, entry]);
  const folder = `${build.work}/bundle`;
  const output = ["--platform", "deno", "--code-splitting", "--outdir", folder];
  await mustRun([Deno.execPath(), "bundle", "--quiet", ...config, ...output, entry]);
  return folder;
}

/** A binary to build. */
export interface Target {
  readonly variant: Variant;
  readonly platform: Platform;
  readonly output: string;
}

/**
 * Compiles the scripts for a platform. For the platform of this machine the program contains V8's code caches: otherwise a small
 * `inject` spends half of its time in compiling functions. The runtimes of other platforms cannot run here.
 */
export async function compileScripts(build: Build, scripts: readonly Script[], target: Target): Promise<void> {
  const { variant: { path, v8Flags }, platform, output } = target;
  const pack = `${build.work}/program.pack`;
  await writePack(pack, scripts);
  if (platform.target === thisPlatform().target) {
    const warmUp = `${build.work}/warm-up${platform.extension}`;
    await compile(build, { entry: await loader(build, "warm_up"), pack, v8Flags }, platform, warmUp);
    await writePack(pack, await makeCaches(build.root, warmUp, `${build.work}/caches/${path}`, scripts));
  }
  await compile(build, { entry: await loader(build, "program"), pack, v8Flags }, platform, output);
}

/** Bundles the program that loads the pack, into the folder of the pack: the binary has both in one folder too. */
async function loader(build: Build, name: "program" | "warm_up"): Promise<string> {
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
  const runtime = await runtimeFor(platform, build.cache);
  const beside = `${build.work}/${platform.name}${platform.extension}`;
  await mustRun([
    ...[
      Deno.execPath(),
      "compile",
      "--quiet",
      "--unstable-net",
      "--no-config",
      "--no-lock",
      "--no-npm",
      "--no-remote",
      "--no-check",
    ],
    ...["--no-code-cache", "--no-prompt", "--allow-all"],
    ...(v8Flags.length === 0 ? [] : [`--v8-flags=${v8Flags.join(",")}`]),
    ...(pack === undefined || isElf ? [] : ["--include", pack]),
    ...["--target", platform.target, "--output", beside, entry],
  ], runtime === undefined ? {} : { DENORT_BIN: runtime });
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
