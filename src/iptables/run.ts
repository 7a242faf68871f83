/** Runs the iptables commands and Istio's programs with a command line, and returns the exit code. */
import { EXIT, UsageError } from "../base/errors.ts";
import { logText, startLog } from "../platform/log.ts";
import type { PermissionName, World } from "../platform/mod.ts";
import { type Reading, readSettings, type Settings } from "./settings/read.ts";
import { capturedDirections, checkRequired, NOTHING_CAPTURED } from "./settings/directions.ts";
import type { Mode } from "./settings/settings.ts";
import { enterNamespace, ownerNames } from "./environment.ts";
import { environmentBlock } from "./views/log_blocks.ts";
import type { Job } from "./job.ts";
import * as work from "./job.ts";

/** A call of a plugin command, or of one of Istio's programs. */
export interface Call {
  readonly mode: Mode;
  /**
   * Whether the call is for one of Istio's programs. These programs ignore arguments that are not flags, and they log
   * the variables and settings.
   */
  readonly isDropIn: boolean;
  /** Whether the call is for `istio-iptables.sh`, the shell script of Istio 1.0 to 1.2. */
  readonly isScript?: boolean;
}

/** Runs `kubectl mesh iptables MODE ARGS` or one of Istio's programs. Rejects with a `MeshError`. */
export async function runIptables(
  world: World,
  { mode, isDropIn, isScript = false }: Call,
  args: readonly string[],
): Promise<number> {
  const names = await ownerNames(world);
  const env = world.env.all();
  const reading = readSettings(args, env, {
    ...names,
    isPrintOnly: mode === "generate",
    refusesArguments: !isDropIn,
    isScript,
  });
  const log = startLog(world, "iptables", reading.log);
  reading.warnings.forEach((warning) => log.warn(logText(warning)));
  const settings = reading.settings ??
    refuse(reading, isDropIn ? "see --help" : `see "kubectl mesh iptables ${mode} --help"`);
  dropPermissions(world, mode, settings);
  const logBlock = (text: string) => isDropIn ? log.info(logText(text)) : log.debug(logText(text));
  logBlock(environmentBlock(env));
  enterNamespace(world, settings.run.networkNamespace);
  return await perform({ world, log, logBlock, names, settings, given: reading.given, mode });
}

/** Applies the rules, then validates them, as istio-iptables does. */
async function perform(job: Job): Promise<number> {
  const { mode, settings: { run } } = job;
  const isClean = mode === "clean" || run.cleanupOnly;
  if (mode === "verify") return await verified(job);
  if (!isClean) logCaptured(job);
  if (run.dryRun || mode === "generate") await (isClean ? work.printRemoval(job) : work.print(job));
  else if (!run.skipRuleApply) await work.apply(job, isClean);
  return run.runValidation ? await verified(job) : EXIT.ok;
}

/** Checks that the settings capture the required directions, before any change. */
function logCaptured({ log, settings: { capture, run } }: Job): void {
  const captured = capturedDirections(capture);
  checkRequired(run.require, captured, "The settings");
  if (captured.length === 0) log.warn(NOTHING_CAPTURED);
}

/** Runs the verification. Loads its code late, because most runs do not verify. */
async function verified(job: Job): Promise<number> {
  const { verify } = await import("./verify/run.ts");
  return await verify(job);
}

function refuse({ problems }: Reading, hint: string): never {
  const [first = "", ...rest] = problems.map(({ origin, reason }) => origin === "" ? reason : `${origin}: ${reason}`);
  throw new UsageError(first, { hint, rest });
}

/**
 * Drops unneeded permissions if the command only prints. Other commands keep all permissions. They start programs and
 * call the kernel, so they would not become safer. Also, Deno denies `/proc` to a process that has dropped any
 * permission.
 */
function dropPermissions(world: World, mode: Mode, { run }: Settings): void {
  const isClean = mode === "clean" || run.cleanupOnly;
  const isPrintOnly = (run.dryRun || mode === "generate") && !isClean && !run.runValidation &&
    run.networkNamespace === "";
  if (!isPrintOnly) return;
  if (run.dryRunFile !== "") world.files.tidyTemporary(run.dryRunFile);
  const names: readonly PermissionName[] = ["read", "env", "sys"];
  world.permissions.keepOnly(run.dryRunFile === "" ? names : [...names, "write"]);
}
