/**
 * Compiles the program: check, bundle, compile. For this machine `dist/kubectl-mesh`, and on Linux `dist/kubectl-mesh-agent`,
 * the same for containers; with `--all` a file `dist/kubectl-mesh-OS-ARCH` for every platform, and
 * `dist/kubectl-mesh-agent-linux-ARCH`. Exit code 1 if one could not be built.
 *
 * `--entry FILE` and `--output FILE` compile a file as it is for this machine (the benchmarks do).
 */
import { parseArgs } from "node:util";
import {
  type Build,
  bundle,
  COMMAND,
  compile,
  compileScripts,
  CONTAINER,
  type Target,
  type Variant,
} from "./compile/build.ts";
import { type Platform, PLATFORMS, thisPlatform } from "./compile/platforms.ts";
import { say } from "./compile/run.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: { all: { type: "boolean" }, entry: { type: "string" }, output: { type: "string" } },
  });
  const jobs = values.all ? allPlatforms() : thisMachine(values);
  const cache = Deno.env.get("MESH_CACHE") ?? `${ROOT}/.cache`;
  await Deno.mkdir(cache, { recursive: true });
  const build: Build = { root: ROOT, cache, work: await Deno.makeTempDir({ dir: cache, prefix: "build-" }) };
  try {
    const { entry } = values;
    if (entry !== undefined) {
      return await runJobs(jobs, (each) => compile(build, { entry }, each.platform, each.output));
    }
    const scripts = await bundle(build);
    return await runJobs(jobs, (each) => compileScripts(build, scripts, each));
  } finally {
    await Deno.remove(build.work, { recursive: true });
  }
}

function thisMachine({ entry, output }: { entry?: string | undefined; output?: string | undefined }): Target[] {
  const platform = thisPlatform();
  const single = entry !== undefined || output !== undefined;
  return variantsFor(platform).filter((variant) => !single || variant === COMMAND)
    .map((variant) => ({ variant, platform, output: output ?? `${ROOT}/dist/kubectl-mesh${variant.suffix}` }));
}

function allPlatforms(): Target[] {
  return PLATFORMS.flatMap((platform) =>
    variantsFor(platform).map((variant) => ({
      variant,
      platform,
      output: `${ROOT}/dist/kubectl-mesh${variant.suffix}-${platform.name}${platform.extension}`,
    }))
  );
}

/** Containers of a pod are Linux. */
function variantsFor({ name }: Platform): readonly Variant[] {
  return name.startsWith("linux-") ? [COMMAND, CONTAINER] : [COMMAND];
}

async function runJobs(jobs: readonly Target[], build: (job: Target) => Promise<void>): Promise<number> {
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
