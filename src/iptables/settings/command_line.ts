/**
 * Parses arguments as pflag does. Also supports the old meaning of `-t` in Istio 1.2 and 1.3, and the argument `clean`
 * of Istio's shell script.
 */
import { type Line, parseFlags } from "../../golang/flags/mod.ts";
import { type FlagName, FLAGS } from "./flags.ts";

export interface CommandLine extends Line<FlagName> {
  readonly isClean: boolean;
  readonly warnings: readonly string[];
}

/** Reads a command line. Does not throw; `problems` lists the errors. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const isUnitTestMode = (arg: string, at: number) => arg === "-t" && !isValue(args[at + 1]);
  const line = parseFlags(FLAGS, args.map((arg, at) => isUnitTestMode(arg, at) ? "--dry-run" : arg));
  const warning = '"-t" without a mark selects the unit-test mode of Istio 1.2 and 1.3: the rules are only printed';
  return { ...line, isClean: line.words[0] === "clean", warnings: args.some(isUnitTestMode) ? [warning] : [] };
}

/**
 * Whether the next argument is the value of `-t`. Before Istio 1.4, `-t` had no value: it was the last argument, or
 * came before another flag.
 */
function isValue(next: string | undefined): boolean {
  return next !== undefined && !next.startsWith("-") && next !== "clean";
}
