/** A command as a record. Help, completion, documentation and parsing derive from it; its code is loaded when it runs. */
import type { World } from "../platform/world.ts";
import {
  type Completes,
  type FlagGroups,
  type FlagTable,
  flagTable,
  type Line,
  parseFlags,
  problemsTogether,
  refuseProblems,
  type Values,
  valuesOf,
} from "../golang/flags/mod.ts";
import { type ExitName, UsageError } from "../base/errors.ts";

export interface Example {
  /** What it is for, where the line does not show it. */
  readonly title?: string;
  readonly command: string;
}

export interface Positional {
  /** In the usage line: `[CATEGORY...]`. */
  readonly usage: string;
  readonly allowed?: readonly string[];
  /** Where completion finds values beside `allowed`. */
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
  /** Its name where it stands in for another program. */
  readonly program?: string;
  /** Reports an error of the command or of its subcommands; returns the exit code. */
  readonly failure?: (world: World, error: unknown, args: readonly string[]) => number;
}

/** What exit codes mean: the command's own text, or `true` for the text of {@link EXIT_MEANING}. `other`: all other codes. */
export type Exits = Readonly<Partial<Record<ExitName, string | true>>> & { readonly other?: string };

/** Subcommands by name, each loaded when it is needed. */
export type Subcommands = Readonly<Record<string, () => Promise<Command>>>;

/** A command with flags of any type. */
export interface Command extends Description {
  readonly flags: () => Promise<FlagGroups>;
  readonly commands: Subcommands;
  /** Not in help, suggestions and completion. */
  readonly hiddenCommands: Subcommands;
  /** Without arguments a group shows its help. */
  readonly showsHelp: boolean;
  /** Names of other programs, and flags, that stand for a subcommand. */
  readonly aliases: Readonly<Record<string, string>>;
  /** Names that users of other programs try, and the subcommand that is meant. */
  readonly renamed: Readonly<Record<string, string>>;
  /** Reads the arguments and does the work. Without it a subcommand must be named. */
  readonly start: ((world: World, args: readonly string[], program: string) => Promise<Outcome>) | undefined;
}

/** The exit code, or `help` if the user asked for help. */
export type Outcome = number | "help";

export interface Input<Groups extends FlagGroups> {
  readonly flags: Values<Groups>;
  readonly args: readonly string[];
  /** The arguments after `--`, for a command that takes another command there. */
  readonly rest: readonly string[];
}

/** A command whose arguments are parsed by its table of flags. */
interface FlagCommand<Groups extends FlagGroups> extends Description {
  readonly flags: Groups;
  readonly commands?: Subcommands;
  readonly takesCommand?: true;
  /** The hint for an argument of a command that takes none. `given` has the names of the given flags. */
  readonly surplusHint?: string | ((given: ReadonlySet<string>) => string);
  readonly run: (world: World, input: Input<Groups>) => Promise<number>;
}

const PLAIN = { commands: {}, hiddenCommands: {}, showsHelp: false, aliases: {}, renamed: {} } as const;

/** A command with a table of flags; `run` gets their typed values. */
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
      refuseSurplus(record, { words: input.args, given: line.given }, program);
      return await record.run(world, { flags: valuesOf(record.flags, line), ...input });
    },
  };
}

function refuseSurplus(
  record: Pick<FlagCommand<FlagGroups>, "positional" | "surplusHint">,
  { words, given }: Pick<Line, "words" | "given">,
  program: string,
): void {
  const [word] = words;
  if (record.positional !== undefined || word === undefined) return;
  const { surplusHint = `see "${program} --help"` } = record;
  const hint = typeof surplusHint === "string" ? surplusHint : surplusHint(new Set(given.keys()));
  throw new UsageError(`Unexpected argument "${word}"`, { hint });
}

/** A command that parses its arguments itself, except `--help` before `--`. */
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

/** A command that only has subcommands. */
export function commandGroup(
  record:
    & Description
    & Pick<Command, "commands">
    & Partial<Pick<Command, "hiddenCommands" | "showsHelp" | "aliases" | "renamed">>,
): Command {
  return { ...PLAIN, ...record, flags: () => Promise.resolve({}), start: undefined };
}
