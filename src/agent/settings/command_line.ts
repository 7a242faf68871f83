/** Parses the arguments of `agent` and of `pilot-agent proxy`. */
import { parseFlags, retiredWarnings } from "../../golang/flags/mod.ts";
import { type FlagName, FLAGS, isRole } from "./flags.ts";

/** The program whose command line is parsed. `pilot-agent` ignores unknown flags, like Istio's program. */
export type ProgramName = "agent" | "pilot-agent";

export interface CommandLine {
  readonly given: ReadonlyMap<FlagName, string>;
  readonly words: readonly string[];
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

/** Parses the arguments. Never throws; reports errors in `problems`. */
export function readCommandLine(args: readonly string[], program: ProgramName): CommandLine {
  const line = parseFlags(FLAGS, args, program === "agent" ? {} : { ignoresUnknown: isRole });
  return {
    given: new Map([...line.given].map(([name, { texts }]) => [name, texts.join(",")])),
    words: [...line.words, ...line.rest ?? []],
    problems: line.problems.map(({ message, hint }) => hint === undefined ? message : `${message}: ${hint}`),
    warnings: [
      ...line.ignored.map((flag) => `The flag "${flag}" is unknown and has no effect`),
      ...retiredWarnings(FLAGS, (name) => {
        const given = line.given.get(name);
        return given?.texts.join(",") === FLAGS[name].default ? undefined : given?.origin;
      }),
    ],
  };
}
