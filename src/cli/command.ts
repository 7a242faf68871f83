/**
 * A record describes a command. Help, completion, documentation and parsing use the record. The code of the command is
 * loaded only when the command runs.
 */
import type { World } from "../platform/world.ts";
import {
  type Completes,
  type FlagGroups,
  type FlagTable,
  flagTable,
  type Line,
  parseFlags,
  problemsTogether,
  readValue,
  refuseProblems,
  spellingsOf,
  standsAlone,
  type Values,
  valuesOf,
} from "../golang/flags/mod.ts";
import { type ExitName, UsageError } from "../base/errors.ts";
import { failingWithTwo } from "./failure.ts";

export interface Example {
  /** Purpose of the example, if the command line does not make it clear. */
  readonly title?: string;
  readonly command: string;
}

export interface Positional {
  /** Text for the usage line, such as `[CATEGORY...]`. */
  readonly usage: string;
  readonly allowed?: readonly string[];
  /** Source of completion values in addition to `allowed`. */
  readonly completes?: Completes;
}

interface Description {
  /** One line of at most 72 columns, imperative, without a final period. */
  readonly summary: string;
  readonly description?: string;
  /** Replaces `[flags]` and positional arguments in the usage line. */
  readonly usage?: string;
  readonly positional?: Positional;
  readonly examples?: readonly Example[];
  readonly exits?: Exits;
  /** Program name in help and messages, if the command replaces another program. */
  readonly program?: string;
  /** Reports an error of the command or of its subcommands; returns the exit code. */
  readonly failure?: (world: World, error: unknown, args: readonly string[]) => number;
}

/** Meanings of exit codes. `true` selects the text of {@link EXIT_MEANING}. `other` covers all other codes. */
export type Exits = Readonly<Partial<Record<ExitName, string | true>>> & { readonly other?: string };

/** Subcommands by name, loaded on first use. */
export type Subcommands = Readonly<Record<string, () => Promise<Command>>>;

/** A command with flags of any type. */
export interface Command extends Description {
  readonly flags: () => Promise<FlagGroups>;
  readonly commands: Subcommands;
  /** Subcommands that help, suggestions and completion omit. */
  readonly hiddenCommands: Subcommands;
  /** Whether the command shows its help when called without arguments, as a command group does. */
  readonly showsHelp: boolean;
  /** Alternative names and flags that run a subcommand. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Names from other programs, with the matching subcommand for a hint. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Parses the arguments and runs the command; `undefined` if a subcommand is required. */
  readonly start: ((world: World, args: readonly string[], program: string) => Promise<Outcome>) | undefined;
}

/** The exit code, or `help` if the user asked for help. */
export type Outcome = number | "help";

export interface Input<Groups extends FlagGroups> {
  readonly flags: Values<Groups>;
  readonly args: readonly string[];
  /** The arguments after `--`, for a command that runs another command. */
  readonly rest: readonly string[];
}

/** A command with arguments that are parsed with its table of flags. */
interface FlagCommand<Groups extends FlagGroups> extends Description {
  readonly flags: Groups;
  readonly commands?: Subcommands;
  readonly takesCommand?: true;
  /** Hint after an unexpected argument. `given` contains the names of the given flags. */
  readonly surplusHint?: string | ((given: ReadonlySet<string>) => string);
  /** Whether the exit code 1 means a difference, as in diff(1). Failures then have exit code 2. */
  readonly isComparison?: (flags: Values<Groups>) => boolean;
  readonly run: (world: World, input: Input<Groups>) => Promise<number>;
}

const PLAIN = { commands: {}, hiddenCommands: {}, showsHelp: false, aliases: {}, renamed: {} } as const;

/** Creates a command with a table of flags. `run` gets the typed values. */
export function command<const Groups extends FlagGroups>(record: FlagCommand<Groups>): Command {
  return {
    ...PLAIN,
    ...record,
    flags: () => Promise.resolve(record.flags),
    start: async (world, args, program) => {
      const table: FlagTable = flagTable(record.flags);
      const line = parseFlags(table, args, { endsAtWord: record.takesCommand === true });
      refuseProblems(line.problems, program);
      if (line.isHelp) return "help";
      const rest = line.rest ?? [];
      const input = record.takesCommand ? { args: line.words, rest } : { args: [...line.words, ...rest], rest: [] };
      refuseProblems(problemsTogether(table, { given: line.given, words: input.args }), program);
      refuseSurplus(record, { args, words: input.args, given: line.given }, program);
      const flags = valuesOf(record.flags, line);
      const run = () => record.run(world, { flags, ...input });
      return await (record.isComparison?.(flags) ? failingWithTwo(world, run) : run());
    },
  };
}

function refuseSurplus(
  record: Pick<FlagCommand<FlagGroups>, "flags" | "positional" | "surplusHint">,
  { args, words, given }: Pick<Line, "words" | "given"> & { readonly args: readonly string[] },
  program: string,
): void {
  const [word] = words;
  if (record.positional !== undefined || word === undefined) return;
  const meant = detachedValue(flagTable(record.flags), args, word);
  if (meant !== undefined) throw new UsageError(`Unexpected argument "${word}"`, { hint: `did you mean "${meant}"?` });
  const { surplusHint = `see "${program} --help"` } = record;
  const hint = typeof surplusHint === "string" ? surplusHint : surplusHint(new Set(given.keys()));
  throw new UsageError(`Unexpected argument "${word}"`, { hint });
}

/**
 * Returns `--flag=WORD` if the word directly follows a flag that takes a value only after `=`, and the word is a valid
 * value of that flag.
 */
function detachedValue(table: FlagTable, args: readonly string[], word: string): string | undefined {
  const spellings = spellingsOf(table);
  const origin = args.find((arg, index) => {
    const flag = args[index + 1] === word ? table[spellings.get(arg) ?? ""] : undefined;
    return flag !== undefined && standsAlone(flag) && readValue(flag, word).reason === undefined;
  });
  return origin === undefined ? undefined : `${origin}=${word}`;
}

/** Creates a command that parses its arguments itself, except `--help` before `--`. */
export function rawCommand(
  record: Description & {
    readonly flags?: () => Promise<FlagGroups>;
    readonly commands?: Subcommands;
    readonly run: (world: World, args: readonly string[]) => Promise<number>;
  },
): Command {
  return {
    flags: () => Promise.resolve({}),
    ...PLAIN,
    ...record,
    start: async (world, args) => asksForHelp(args) ? "help" : await record.run(world, args),
  };
}

function asksForHelp(args: readonly string[]): boolean {
  const end = args.indexOf("--");
  return (end < 0 ? args : args.slice(0, end)).some((word) => word === "--help" || word === "-h");
}

/** Creates a command that only has subcommands. */
export function commandGroup(
  record:
    & Description
    & Pick<Command, "commands">
    & Partial<Pick<Command, "hiddenCommands" | "showsHelp" | "aliases" | "renamed">>,
): Command {
  return { ...PLAIN, ...record, flags: () => Promise.resolve({}), start: undefined };
}
