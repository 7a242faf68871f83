import { basename } from "node:path";
import { type Platform } from "./platforms.ts";
import { mustRun } from "./run.ts";
import { runtimeFor } from "./runtime.ts";

/** esbuild turns `require` of CommonJS packages into a call that throws in a module, unless there is a `require`. */
const REQUIRE = 'import{createRequire as __cr}from"node:module";const require=__cr(import.meta.url);\n';

/** The folders and the way of one build. */
export interface Build {
  readonly root: string;
  readonly cache: string;
  /** A folder for this build alone. */
  readonly work: string;
}

/**
 * Checks and bundles a program; returns the path of its first file. A bundle starts faster than its modules, and holds
 * only what is imported. What is loaded by `import()` is a file of its own, which is not even parsed before that.
 */
export async function bundle(build: Build, entry: string): Promise<string> {
  const config = ["--config", `${build.root}/deno.json`, "--frozen"];
  await mustRun([Deno.execPath(), "check", "--quiet", ...config, entry]);
  const folder = `${build.work}/bundle`;
  const output = ["--platform", "deno", "--code-splitting", "--outdir", folder];
  await mustRun([Deno.execPath(), "bundle", "--quiet", ...config, ...output, entry]);
  for await (const { name } of Deno.readDir(folder)) await defineRequire(`${folder}/${name}`);
  return `${folder}/${basename(entry, ".ts")}.js`;
}

async function defineRequire(file: string): Promise<void> {
  const code = await Deno.readTextFile(file);
  if (code.includes("__require(")) await Deno.writeTextFile(file, REQUIRE + code);
}

/**
 * Compiles a bundle and the files that it loads for a platform into `output`. No code cache: at run time it would be read from a shared folder
 * without a look at its owner. No configuration and no npm: else every package of deno.json would be in the binary.
 *
 * No V8 flags and no minifying: measured with bench/inject_process.ts and bench/start.ts, neither `--max-lazy`,
 * `--no-lazy-feedback-allocation`, `--always-sparkplug`, `--min-semi-space-size=16` nor `--single-threaded-gc` makes small
 * inputs faster; the last three cost memory or time on others. Minified files save less than the noise.
 */
export async function compile(build: Build, bundled: string, platform: Platform, output: string): Promise<void> {
  const runtime = await runtimeFor(platform, build.cache);
  const beside = `${build.work}/${platform.name}${platform.extension}`;
  await mustRun([
    ...[Deno.execPath(), "compile", "--quiet", "--no-config", "--no-lock", "--no-npm", "--no-remote", "--no-check"],
    ...["--no-code-cache", "--no-prompt", "--allow-all"],
    ...["--target", platform.target, "--output", beside, bundled],
  ], runtime === undefined ? {} : { DENORT_BIN: runtime });
  await Deno.mkdir(output.slice(0, output.lastIndexOf("/")), { recursive: true });
  await Deno.rename(beside, output);
}
