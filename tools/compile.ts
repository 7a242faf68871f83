/**
 * Compiles the program: check, bundle, compile. Exit code 1 if a build fails.
 *
 * | flags                           | what it builds                                                                      |
 * |---------------------------------|-------------------------------------------------------------------------------------|
 * | none                            | `dist/kubectl-mesh` for this machine, on Linux also `dist/agent/mesh-agent` (small) |
 * | `--all`                         | the same for every platform: `dist/kubectl-mesh-OS-ARCH`                            |
 * | `--plain`                       | `dist/plain/kubectl-mesh` for this machine: the bundle as `deno compile` takes it,  |
 * |                                 | without the pack behind the runtime and the code cache                              |
 * | `--entry FILE` `--output FILE`  | a file as it is, for this machine (benchmarks)                                      |
 */
import { parseArgs } from "node:util";
import {
  type Build,
  bundle,
  COMMAND,
  compile,
  compileScripts,
  CONTAINER,
  isThisMachine,
  sharedCaches,
  type Target,
  type Variant,
} from "./compile/build.ts";
import { type Platform, PLATFORMS, thisPlatform } from "./compile/platforms.ts";
import { say } from "./compile/run.ts";
import { toScripts } from "./compile/scripts.ts";

const ROOT = decodeURIComponent(new URL("..", import.meta.url).pathname).replace(/\/$/, "");

async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      all: { type: "boolean" },
      plain: { type: "boolean" },
      entry: { type: "string" },
      output: { type: "string" },
    },
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
    const folder = await bundle(build);
    if (values.plain) {
      return await runJobs(jobs, (each) => {
        return compile(build, { entry: `${folder}/main.js`, v8Flags: COMMAND.v8Flags }, each.platform, each.output);
      });
    }
    const scripts = await toScripts(folder);
    const isRunnable = jobs.some(({ platform }) => isThisMachine(platform));
    if (isRunnable) say("compile: warming the code cache");
    const caches = isRunnable ? await sharedCaches(build, scripts, Deno.env.get("MESH_CODE_CACHES")) : undefined;
    return await runJobs(jobs, (each) => compileScripts(build, scripts, each, caches));
  } finally {
    await Deno.remove(build.work, { recursive: true });
  }
}

interface Single {
  readonly plain?: boolean | undefined;
  readonly entry?: string | undefined;
  readonly output?: string | undefined;
}

function thisMachine({ plain = false, entry, output }: Single): Target[] {
  const platform = thisPlatform();
  const isSingle = plain || entry !== undefined || output !== undefined;
  const folder = plain ? `${ROOT}/dist/plain` : `${ROOT}/dist`;
  return variantsFor(platform).filter((variant) => !isSingle || variant === COMMAND)
    .map((variant) => ({ variant, platform, output: output ?? `${folder}/${variant.path}` }));
}

function allPlatforms(): Target[] {
  return PLATFORMS.flatMap((platform) =>
    variantsFor(platform).map((variant) => ({
      variant,
      platform,
      output: `${ROOT}/dist/${variant.path}-${platform.name}${platform.extension}`,
    }))
  );
}

/** The container build is for Linux only, because the containers of pods run Linux. */
function variantsFor({ name }: Platform): readonly Variant[] {
  return name.startsWith("linux-") ? [COMMAND, CONTAINER] : [COMMAND];
}

async function runJobs(jobs: readonly Target[], build: (job: Target) => Promise<void>): Promise<number> {
  let failed = 0;
  for (const job of jobs) {
    const { platform, output } = job;
    say(`compile: making ${output}`);
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
