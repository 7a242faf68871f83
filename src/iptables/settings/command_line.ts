/** Parses arguments as pflag does, with the `-t` of Istio 1.2 and 1.3 and the `clean` of its shell script. */
import { type Line, parseFlags } from "../../golang/flags/mod.ts";
import { type FlagName, FLAGS } from "./flags.ts";

export interface CommandLine extends Line<FlagName> {
  readonly isClean: boolean;
  readonly warnings: readonly string[];
}

/** Reads a command line. Never throws: see `problems`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const isUnitTestMode = (arg: string, at: number) => arg === "-t" && !isValue(args[at + 1]);
  const line = parseFlags(FLAGS, args.map((arg, at) => isUnitTestMode(arg, at) ? "--dry-run" : arg));
  const warning = '"-t" without a mark means the unit-test mode of Istio 1.2 and 1.3: nothing is applied';
  return { ...line, isClean: line.words[0] === "clean", warnings: args.some(isUnitTestMode) ? [warning] : [] };
}

/**
 * Whether the next argument is the value of `-t`, which took none before Istio 1.4: it then stands last, or before
 * another flag.
 */
function isValue(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith("-") && next !== "clean";
}
