/** The commands: a command line in, an exit code out. */
import { EXIT, MeshError, UsageError } from "../core/errors.ts";
import { logText, startLog } from "../core/log.ts";
import { type PermissionName, SystemError, type World } from "../core/world/mod.ts";
import { type Reading, readSettings } from "./settings/read.ts";
import type { Mode, Settings } from "./settings/settings.ts";
import { ownerNames } from "./environment.ts";
import { environmentBlock } from "./views/log_blocks.ts";
import type { Job } from "./job.ts";
import * as work from "./job.ts";

/** `kubectl mesh iptables MODE ARGS`, and Istio's programs. Errors are `MeshError`s. */
export async function runIptables(world: World, mode: Mode, args: readonly string[]): Promise<number> {
  const names = await ownerNames(world);
  const env = world.env.all();
  const reading = readSettings(args, env, { ...names, isPrintOnly: mode === "generate" });
  const log = startLog(world, "iptables", reading.log);
  reading.warnings.forEach((warning) => log.warn(logText(warning)));
  const settings = reading.settings ?? refuse(reading);
  dropPermissions(world, mode, settings);
  log.info(logText(environmentBlock(env)));
  enterNamespace(world, settings.run.networkNamespace);
  return await perform({ world, log, names, settings, mode });
}

/** The steps in the order of istio-iptables: first the rules, then the validation. */
async function perform(job: Job): Promise<number> {
  const { mode, settings: { run } } = job;
  const isClean = mode === "clean" || run.cleanupOnly;
  if (mode === "verify") return await verified(job);
  if (run.dryRun || mode === "generate") await (isClean ? work.printRemoval(job) : work.print(job));
  else if (!run.skipRuleApply) await work.apply(job, isClean);
  return run.runValidation ? await verified(job) : EXIT.ok;
}

/** Loads the validation only when it runs: most runs apply rules and end. */
async function verified(job: Job): Promise<number> {
  const { verify } = await import("./verify/run.ts");
  return await verify(job);
}

function refuse({ problems }: Reading): never {
  const text = problems.map(({ origin, reason }) => origin === "" ? reason : `${origin}: ${reason}`).join("; ");
  const isUsage = problems.some((problem) => problem.isUsage);
  throw isUsage ? new UsageError(text, { hint: "see --help" }) : new MeshError(text);
}

/**
 * A command that only prints drops all other permissions. The other commands start programs and call the kernel, so they
 * would gain nothing, and Deno denies `/proc` to a process that has dropped any permission.
 */
function dropPermissions(world: World, mode: Mode, { run }: Settings): void {
  const isClean = mode === "clean" || run.cleanupOnly;
  const isPrintOnly = (run.dryRun || mode === "generate") && !isClean && !run.runValidation &&
    run.networkNamespace === "";
  if (!isPrintOnly) return;
  const names: readonly PermissionName[] = ["read", "env", "sys"];
  world.permissions.keepOnly(run.dryRunFile === "" ? names : [...names, "write"]);
}

function enterNamespace(world: World, path: string): void {
  if (path === "") return;
  try {
    world.system.enterNetworkNamespace(path);
  } catch (error) {
    if (!(error instanceof SystemError)) throw error;
    throw new MeshError(`Cannot enter the network namespace "${path}": ${error.message}`, {
      hint: "Use a file such as /proc/PID/ns/net or /run/netns/NAME; entering it needs the capability SYS_ADMIN",
    });
  }
}
