/**
 * Compiles the program: check, bundle, compile. `dist/kubectl-mesh` for this machine, or with `--all` a file
 * `dist/kubectl-mesh-OS-ARCH` for every platform; exit code 1 if one could not be built.
 *
 * `--entry FILE` and `--output FILE` compile a file as it is for this machine (the benchmarks do).
 */
import { parseArgs } from "node:util";
import { type Build, bundle, compile, compileScripts } from "./compile/build.ts";
import { type Platform, PLATFORMS, thisPlatform } from "./compile/platforms.ts";
import { say } from "./compile/run.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

interface Job {
  readonly platform: Platform;
  readonly output: string;
}

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { all: { type: "boolean" }, entry: { type: "string" }, output: { type: "string" } },
  });
  const jobs = values.all ? allPlatforms() : [
    { platform: thisPlatform(), output: values.output ?? `${ROOT}/dist/kubectl-mesh` },
  ];
  const cache = Deno.env.get("MESH_CACHE") ?? `${ROOT}/.cache`;
  await Deno.mkdir(cache, { recursive: true });
  const build: Build = { root: ROOT, cache, work: await Deno.makeTempDir({ dir: cache, prefix: "build-" }) };
  try {
    const { entry } = values;
    if (entry !== undefined) {
      return await runJobs(jobs, (each) => compile(build, { entry, files: [] }, each.platform, each.output));
    }
    const scripts = await bundle(build);
    return await runJobs(jobs, (each) => compileScripts(build, scripts, each.platform, each.output));
  } finally {
    await Deno.remove(build.work, { recursive: true });
  }
}

function allPlatforms(): Job[] {
  return PLATFORMS.map((platform) => ({
    platform,
    output: `${ROOT}/dist/kubectl-mesh-${platform.name}${platform.extension}`,
  }));
}

async function runJobs(jobs: readonly Job[], build: (job: Job) => Promise<void>): Promise<number> {
  let failed = 0;
  for (const job of jobs) {
    const { platform, output } = job;
    try {
      await build(job);
      say(`compile: ${output}: ${((await Deno.stat(output)).size / 1e6).toFixed(1)} MB`);
    } catch (error) {
      failed++;
      say(`error: Cannot compile for ${platform.name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return failed === 0 ? 0 : 1;
}

try {
  Deno.exit(await main(Deno.args));
} catch (error) {
  say(`error: ${error instanceof Error ? error.message : String(error)}`);
  Deno.exit(1);
}
