/** Names and runs the iptables and nft programs. */
import { MeshError, oneLine } from "../../base/errors.ts";
import type { Run, RunResult, World } from "../../platform/world.ts";
import type { Family } from "../plan/rule.ts";
import { diagnose } from "./diagnosis.ts";

/**
 * A variant of the iptables programs. `plain` is the name without a suffix, for images that lack the other variants.
 */
export type Variant = "nft" | "legacy" | "plain";

/** How to read and change a back end: with a variant of the programs, or over netlink. */
export type Access = Variant | "netlink";

/** The name of a program, such as `iptables-nft-save`. */
export function iptablesProgram(variant: Variant, family: Family, verb: "save" | "restore"): string {
  return `${family === 4 ? "iptables" : "ip6tables"}${variant === "plain" ? "" : `-${variant}`}-${verb}`;
}

const TIME_LIMIT = 60_000;

/** Runs a program in the C locale and returns its stdout. Throws a `MeshError` with the stderr and a hint. */
export async function runProgram(
  world: World,
  command: string,
  args: readonly string[],
  stdin?: string,
): Promise<string> {
  const run = {
    command,
    args,
    env: { LC_ALL: "C" },
    timeoutMilliseconds: TIME_LIMIT,
    ...stdin === undefined ? {} : { stdin },
  };
  const result = await world.processes.run(run);
  if (result.code !== 0) throw failure(run, result);
  return result.stdout;
}

type ProgramRun = Run & { readonly args: readonly string[] };

function failure({ command, args, stdin }: ProgramRun, result: RunResult): MeshError {
  if (result.code === 127 && result.stdout === "") {
    return new MeshError(`The program "${command}" is not on PATH`, {
      hint: "Use an image that has iptables and nftables",
    });
  }
  const reason = result.timedOut ? `it did not exit within ${TIME_LIMIT / 1000} s` : oneLine(result.stderr);
  const { line, hint } = diagnose(reason, stdin);
  const at = line === undefined ? "" : ` at "${line}"`;
  const message = `"${[command, ...args].join(" ")}" failed with exit code ${result.code}${at}: ${reason}`;
  return new MeshError(message, hint === undefined ? {} : { hint });
}
