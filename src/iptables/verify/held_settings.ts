/** Reads the settings for `verify` from the rules in the kernel, if flags do not set them. */
import { EXIT, MeshError } from "../../base/errors.ts";
import { logText } from "../../platform/log.ts";
import { readersOf } from "../apply/backend.ts";
import { heldPolicies } from "../apply/routing_steps.ts";
import { heldRules, survey } from "../apply/survey.ts";
import { heldSettings } from "../rules_to_settings.ts";
import type { Job } from "../job.ts";
import { capturedDirections } from "../settings/directions.ts";

/** Settings that select the captured connections. */
const DIRECTION_SETTINGS = ["inboundPorts", "outboundCidrs", "outboundPorts"];

/**
 * Replaces the settings of a `verify` job with the settings found in the rules, except those that a flag or variable
 * sets. Returns the job unchanged if the command is not `verify`, or if a flag or variable selects the captured
 * connections. Throws a `MeshError` with exit code 126 if the rules cannot be read.
 */
export async function withHeldSettings(job: Job): Promise<Job> {
  const { world, log, names, given, mode, settings: { capture, run } } = job;
  if (mode !== "verify" || DIRECTION_SETTINGS.some((name) => given.has(name))) return job;
  const found = await survey(world, names, readersOf(world, run.via)).catch(refuse);
  const policies = heldPolicies(world.system).flatMap(({ rules }) => rules);
  const tables = new Map(policies.map(({ mark, table }) => [mark, table]));
  const own = Object.fromEntries(Object.entries(capture).filter(([name]) => given.has(name)));
  const held = { ...heldSettings(heldRules(found), tables, capture), ...own };
  const isNative = found.holdings.some(({ variant }) => variant === "native");
  const directions = capturedDirections(held).join(" and ");
  log.info(logText(`Settings are read from the rules in the kernel, which capture ${directions || "no"} connections`));
  return {
    ...job,
    settings: { capture: held, run: { ...run, nativeNftables: run.nativeNftables || isNative } },
  };
}

function refuse(error: unknown): never {
  if (!(error instanceof MeshError)) throw error;
  throw new MeshError(`Cannot read the settings from the rules in the kernel: ${error.message}`, {
    exitCode: EXIT.notCaptured,
    hint: "Set them with flags, for example -b '*' -i '*', or add the capability NET_ADMIN",
  });
}
