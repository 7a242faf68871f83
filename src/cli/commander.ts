/** Commander reads the arguments of commands that people type; options and their values are those of the records. */
import { Command, CommanderError, Option } from "@commander-js/extra-typings";
import {
  type Flag,
  flagEntries,
  flagLabel,
  type FlagTable,
  type Given,
  isRepeatable,
  type Line,
  type Problem,
  problemOf,
  spellingsOf,
  standsAlone,
  unknownFlag,
  valueAlone,
} from "../golang/flags/mod.ts";

const HELP = { help: { name: "help", short: "h", type: "boolean", doc: "show this help" } } as const;

/** Parses arguments by a table of flags. It does not fail: what is wrong is in `problems`; commander stops at the first. */
export function parseWithCommander(table: FlagTable, args: readonly string[]): Line {
  const flags: FlagTable = { ...table, ...HELP };
  const end = args.indexOf("--");
  const given = new Map<string, Given>();
  const problems: Problem[] = [];
  const take = (name: string, flag: Flag, text: string) => {
    const problem = problemOf(flag, text);
    if (problem !== undefined) problems.push(problem);
    const before = isRepeatable(flag) ? given.get(name)?.texts ?? [] : [];
    given.set(name, { texts: [...before, text], origin: `--${flag.name}` });
  };
  const command = commandOf(flags, take);
  try {
    command.parse(respelled(flags, end < 0 ? args : args.slice(0, end), take), { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    problems.push(problemOfCommander(error.message, flags));
  }
  const rest = end < 0 ? undefined : args.slice(end + 1);
  return { given, isHelp: given.has("help"), words: command.args, rest, problems, ignored: [] };
}

type Take = (name: string, flag: Flag, text: string) => void;

function commandOf(flags: FlagTable, take: Take): Command {
  const command = new Command().exitOverride().helpOption(false).allowExcessArguments().showSuggestionAfterError(false)
    .configureOutput({ outputError: () => {} }).action(() => {});
  for (const [key, flag] of flagEntries(flags)) {
    const { name, short, old = [] } = flag;
    const own = name === undefined ? [] : [short === undefined ? `--${name}` : `-${short}, --${name}`];
    for (const spelling of [...own, ...old]) {
      const option = new Option(standsAlone(flag) ? spelling : `${spelling} <value>`);
      command.addOption(option);
      command.on(`option:${option.name()}`, (text?: string | null) => take(key, flag, text ?? valueAlone(flag) ?? ""));
    }
  }
  return command;
}

/** Commander lacks two of pflag's spellings: `-o=json` and `--bool=false`. */
function respelled(flags: FlagTable, args: readonly string[], take: Take): string[] {
  const spellings = spellingsOf(flags);
  return args.flatMap((word) => {
    const [, spelling = "", text = ""] = /^(--?[^=]+)=([^]*)$/.exec(word) ?? [];
    const name = spellings.get(spelling) ?? "";
    const flag = flags[name];
    if (flag !== undefined && standsAlone(flag)) {
      take(name, flag, text);
      return [];
    }
    return flag !== undefined && !spelling.startsWith("--") ? [spelling, text] : [word];
  });
}

/** Commander's messages are its interface: its codes do not hold the flag. */
function problemOfCommander(text: string, flags: FlagTable): Problem {
  const [, unknown] = /^error: unknown option '(.*?)'/s.exec(text) ?? [];
  if (unknown !== undefined) return unknownFlag(flags, unknown.replace(/=.*$/s, ""));
  const [, option = ""] = /^error: option '([^']*)' argument missing$/.exec(text) ?? [];
  const [, long = ""] = /--([^ ]*)/.exec(option) ?? [];
  const flag = flags[spellingsOf(flags).get(`--${long}`) ?? ""];
  if (flag !== undefined) return { message: `The flag ${flagLabel(flag)} needs a value` };
  return { message: text.replace(/^error: (.)/, (_all, first: string) => first.toUpperCase()).replaceAll("'", '"') };
}
