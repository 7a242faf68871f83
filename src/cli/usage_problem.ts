import type { CommandUnknownOpts } from "@commander-js/extra-typings";

/** A wrong command line in the grammar of our errors. */
export interface UsageProblem {
  readonly message: string;
  /** What to do, where it is more than reading the help. */
  readonly hint?: string;
}

type Rule = readonly [
  pattern: RegExp,
  say: (match: readonly string[], command: CommandUnknownOpts | undefined) => UsageProblem,
];

/** What commander says (its messages are its interface: the codes do not hold the words) and what is said instead. */
const RULES: readonly Rule[] = [
  [/^unknown command 'kube-inject'/, () => ({ message: 'Unknown command "kube-inject"', hint: 'it is "inject" here' })],
  [
    /^unknown (option|command) '(.*?)'(?:\n\(Did you mean (?:one of )?(.*)\?\))?$/s,
    ([, what = "", word = "", near]) => ({
      message: `Unknown ${what === "option" ? "flag" : what} "${word}"`,
      ...near === undefined ? {} : { hint: `did you mean ${quoted(near)}?` },
    }),
  ],
  [
    /^option '(.*?)' argument missing$/,
    ([, flags = ""]) => ({ message: `The flag ${flagNames(flags)} needs a value` }),
  ],
  [
    /^option '(.*?)' argument '([^]*)' is invalid\. Allowed choices are (.*)\.$/,
    ([, flags = "", value = "", allowed = ""]) => ({
      message: `The flag ${flagNames(flags)} cannot be "${value}"`,
      hint: `it takes ${quoted(allowed)}`,
    }),
  ],
  [/^too many arguments/, (_match, command) => ({
    message: `Unexpected argument "${command?.args[0] ?? ""}"`,
    ...command?.options.some(({ long }) => long === "--filename") ? { hint: "name files with -f" } : {},
  })],
];

/** Reads a message of commander. */
export function usageProblem(text: string, command: CommandUnknownOpts | undefined): UsageProblem {
  const said = text.replace(/^error: /, "");
  for (const [pattern, say] of RULES) {
    const match = pattern.exec(said);
    if (match !== null) return say(match, command);
  }
  return { message: said.charAt(0).toUpperCase() + said.slice(1).replaceAll("'", '"') };
}

/** `-f, --filename <file>` as `-f/--filename`. */
function flagNames(flags: string): string {
  return flags.replace(/ .?<.*$/, "").replace(/ \[.*$/, "").replace(", ", "/");
}

function quoted(names: string): string {
  return names.split(", ").map((name) => `"${name}"`).join(", ").replace(/, (?=[^,]*$)/, " or ");
}
