/**
 * Reads arguments as pflag does: `--flag value`, `--flag=value`, `-f value`, `-fvalue`, `-f=value`, `-abf value`. A
 * boolean accepts a value only after `=`. `--` ends the flags.
 */
import { closest } from "../../base/text/mod.ts";
import { UsageError } from "../../base/errors.ts";
import {
  type Flag,
  flagEntries,
  type FlagGroups,
  flagLabel,
  type FlagTable,
  flagTable,
  isRepeatable,
  standsAlone,
  valueAlone,
  type Values,
} from "./flag.ts";
import { readValue } from "./read_value.ts";

/** A flag that was given on the command line. */
export interface Given {
  /** The last value, or all values of a repeatable flag. */
  readonly texts: readonly string[];
  /** The spelling of the last use: `--output` or `-o`. */
  readonly origin: string;
}

/** Something wrong with the arguments. */
export interface Problem {
  readonly message: string;
  /** What to do instead. */
  readonly hint?: string;
}

/** A parsed command line. */
export interface Line<Name extends string = string> {
  readonly given: ReadonlyMap<Name, Given>;
  readonly isHelp: boolean;
  /** Arguments that are not flags, before `--`. */
  readonly words: readonly string[];
  /** The arguments after `--`; `undefined` if there is no `--`. */
  readonly rest: readonly string[] | undefined;
  readonly problems: readonly Problem[];
  /** Unknown flags that `ignoresUnknown` skipped, without their values. */
  readonly ignored: readonly string[];
}

/** Options for `parseFlags`. */
export interface ParseOptions {
  /** Stops at the first argument that is not a flag, because that argument starts another program's command line. */
  readonly endsAtWord?: boolean;
  /** Ignores an unknown flag. Also ignores the next argument, unless this function returns true for that argument. */
  readonly ignoresUnknown?: (next: string) => boolean;
}

interface State<Name extends string> {
  readonly flags: FlagTable<Name>;
  readonly spellings: ReadonlyMap<string, Name>;
  readonly options: ParseOptions;
  readonly queue: string[];
  readonly given: Map<Name, Given>;
  readonly words: string[];
  readonly problems: Problem[];
  readonly ignored: string[];
  isHelp: boolean;
}

const HELP: Flag = { name: "help", short: "h", type: "boolean", doc: "show this help" };

/** Parses arguments. Never throws: `problems` lists all errors. */
export function parseFlags<Name extends string>(
  flags: FlagTable<Name>,
  args: readonly string[],
  options: ParseOptions = {},
): Line<Name> {
  const end = args.indexOf("--");
  const queue = end < 0 ? [...args] : args.slice(0, end);
  const [given, words, problems, ignored] = [new Map<Name, Given>(), [], [], []];
  const state: State<Name> = {
    flags,
    spellings: spellingsOf(flags),
    options,
    queue,
    given,
    words,
    problems,
    ignored,
    isHelp: false,
  };
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (word.startsWith("-") && word !== "-") readFlag(state, word);
    else state.words.push(word, ...options.endsAtWord ? queue.splice(0) : []);
  }
  return { ...state, rest: end < 0 ? undefined : args.slice(end + 1) };
}

/** Maps every spelling of the flags in a table, with dashes, to the flag's name. */
export function spellingsOf<Name extends string>(flags: FlagTable<Name>): Map<string, Name> {
  const spellings = new Map<string, Name>();
  for (const [key, { name, short, old = [] }] of flagEntries(flags)) {
    if (name !== undefined) spellings.set(`--${name}`, key);
    if (short !== undefined) spellings.set(`-${short}`, key);
    for (const spelling of old) spellings.set(spelling, key);
  }
  return spellings;
}

function readFlag<Name extends string>(state: State<Name>, word: string): void {
  const at = word.indexOf("=");
  const name = at < 0 ? word : word.slice(0, at);
  const text = at < 0 ? undefined : word.slice(at + 1);
  if (name === "--help") return readHelp(state, text);
  const key = state.spellings.get(name);
  if (key !== undefined) return take(state, key, name, text);
  if (name.startsWith("--")) return readUnknown(state, word, name);
  readShorts(state, word.slice(1), word);
}

/**
 * Reads short flags such as `-p15001` and `-nu1337`. If a letter needs a value, the rest of the argument is the value.
 */
function readShorts<Name extends string>(state: State<Name>, text: string, word: string): void {
  const origin = `-${text.charAt(0)}`;
  const rest = text.slice(1);
  const key = state.spellings.get(origin);
  if (key === undefined && origin === "-h") return readHelp(state, undefined);
  if (key === undefined) return readUnknown(state, word, origin);
  if (rest.startsWith("=")) return take(state, key, origin, rest.slice(1));
  if (!standsAlone(state.flags[key])) return take(state, key, origin, rest === "" ? undefined : rest);
  take(state, key, origin, undefined);
  if (rest !== "") readShorts(state, rest, word);
}

function readHelp<Name extends string>(state: State<Name>, text = "true"): void {
  const problem = problemOf(HELP, text);
  if (problem !== undefined) return void state.problems.push(problem);
  state.isHelp = readValue(HELP, text).value === true;
}

function take<Name extends string>(state: State<Name>, key: Name, origin: string, value: string | undefined): void {
  const flag: Flag = state.flags[key];
  const text = value ?? valueAlone(flag) ?? state.queue.shift();
  if (text === undefined) return void state.problems.push({ message: `The flag ${flagLabel(flag)} needs a value` });
  const problem = problemOf(flag, text);
  // Refuses an invalid value even if a later one replaces it, as pflag does.
  if (problem !== undefined) return void state.problems.push(problem);
  const before = isRepeatable(flag) ? state.given.get(key)?.texts ?? [] : [];
  state.given.set(key, { texts: [...before, text], origin });
}

/** The problem with a flag's value; `undefined` if the value is valid. */
function problemOf(flag: Flag, text: string): Problem | undefined {
  const { reason } = readValue(flag, text);
  return reason === undefined
    ? undefined
    : { message: `The flag ${flagLabel(flag)} cannot be "${text}"`, hint: reason };
}

/** Reports or ignores an unknown flag. The next argument may be the flag's value and is then skipped too. */
function readUnknown<Name extends string>(state: State<Name>, word: string, name: string): void {
  const { queue, options: { ignoresUnknown } } = state;
  const [next] = queue;
  const mayBeValue = !word.includes("=") && next !== undefined && !next.startsWith("-");
  if (ignoresUnknown !== undefined) {
    state.ignored.push(word.replace(/=.*$/s, ""));
    if (mayBeValue && !ignoresUnknown(next)) queue.shift();
    return;
  }
  const meant = meantFlag(state.flags, name);
  state.problems.push(unknownFlag(state.flags, name, word));
  if (mayBeValue && meant !== undefined && !standsAlone(meant)) queue.shift();
}

/** The message about an unknown flag. `word` is the whole argument if the flag is one of its letters (`-abc`). */
function unknownFlag(flags: FlagTable, name: string, word = name): Problem {
  const isInWord = !name.startsWith("--") && word !== name;
  const message = `Unknown flag "${name}"${isInWord ? ` in "${word}"` : ""}`;
  const meant = meantFlag(flags, name);
  return meant === undefined ? { message } : { message, hint: `did you mean "--${meant.name}"?` };
}

/** Finds the flag with the most similar name. Users also write `_` for `-`, as in Istio's field names. */
function meantFlag(flags: FlagTable, spelling: string): Flag | undefined {
  if (!spelling.startsWith("--")) return undefined;
  const shown = Object.values(flags).filter(({ hidden, retired }) => hidden !== true && retired === undefined);
  const names = shown.flatMap(({ name }) => name === undefined ? [] : [name]);
  const name = spelling.slice(2);
  const meant = onlyStarting(name, names) ?? closest(name, names) ?? closest(name.replaceAll("_", "-"), names);
  return meant === undefined ? undefined : shown.find((flag) => flag.name === meant);
}

/** The only name that starts with at least three letters that were typed: `--out` means `--output`. */
function onlyStarting(typed: string, names: readonly string[]): string | undefined {
  const [found, another] = names.filter((name) => typed.length >= 3 && name.startsWith(typed));
  return another === undefined ? found : undefined;
}

/** Problems between given flags: a flag lacks a flag or argument that it needs, or excludes another given flag. */
export function problemsTogether(
  flags: FlagTable,
  { given, words }: Pick<Line, "given"> & Partial<Pick<Line, "words">>,
): Problem[] {
  const isOn = (flag: Flag, texts: readonly string[]) =>
    flag.type !== "boolean" || readValue(flag, texts.at(-1) ?? "").value === true;
  const on = new Map([...given].flatMap(([key, { texts }]): [string | undefined, Flag][] => {
    const flag = flags[key];
    return flag !== undefined && isOn(flag, texts) ? [[flag.name, flag]] : [];
  }));
  return [...on.values()].flatMap(({ name, needs, needsArgument, excludes = [] }) => {
    const excluded = excludes.find((other) => on.has(other));
    if (excluded !== undefined) return [{ message: `The flags --${name} and --${excluded} cannot be combined` }];
    const start = needsArgument?.slice(0, needsArgument.lastIndexOf(":") + 1);
    if (start !== undefined && words?.some((word) => word.startsWith(start)) === false) {
      return [{ message: `The flag --${name} needs an argument ${needsArgument}` }];
    }
    if (needs === undefined || needs.some((other) => on.has(other))) return [];
    return [{ message: `The flag --${name} needs ${needs.map((other) => `--${other}`).join(" or ")}` }];
  });
}

/** The typed value of every flag: the given value, or the default. The line must have no problems. */
export function valuesOf<const Groups extends FlagGroups>(groups: Groups, line: Line): Values<Groups>;
export function valuesOf(groups: FlagGroups, { given }: Line): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(flagTable(groups)).map(([name, flag]) => [name, valueOf(flag, given.get(name)?.texts)]),
  );
}

function valueOf(flag: Flag, texts: readonly string[] | undefined): unknown {
  const given = texts ?? (flag.default === undefined ? [] : [flag.default]);
  if (flag.type === "urls" || flag.type === "texts") return given;
  if (isRepeatable(flag)) return given.flatMap((text) => text.split(",")).filter((text) => text !== "");
  const text = given.at(-1) ?? (flag.type === "boolean" ? "false" : undefined);
  return text === undefined ? undefined : readValue(flag, text).value;
}

/**
 * Environment variables as arguments. Insert them before the given arguments, so that the given arguments win. A
 * variable with an empty value counts as unset.
 */
export function variablesAsFlags(groups: FlagGroups, env: Readonly<Record<string, string>>): readonly string[] {
  return Object.values(flagTable(groups)).flatMap(({ name, env: names = [] }) => {
    const text = names.map((each) => env[each] ?? "").find((each) => each !== "");
    return name === undefined || text === undefined ? [] : [`--${name}=${text}`];
  });
}

/** Arguments that give these values, including defaults, in the order of the table. */
export function valuesAsFlags(groups: FlagGroups, values: Readonly<Record<string, unknown>>): readonly string[] {
  return Object.entries(flagTable(groups)).flatMap(([key, { name }]) => {
    const value = values[key];
    const all: readonly unknown[] = Array.isArray(value)
      ? value
      : value === undefined || value === false
      ? []
      : [value];
    return all.map((each) => each === true ? `--${name}` : `--${name}=${each}`);
  });
}

/** Throws the first problem as a `UsageError`. The hint defaults to the help of `program`. */
export function refuseProblems([problem]: readonly Problem[], program: string): void {
  if (problem === undefined) return;
  throw new UsageError(problem.message, { hint: problem.hint ?? `see "${program} --help"` });
}
