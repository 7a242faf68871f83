import { closest } from "../core/closest.ts";
import { UsageError } from "../core/errors.ts";

/**
 * Flags of commands that containers start: one small table instead of commander, which costs a sixth of the start. The
 * spellings are pflag's: `--flag value`, `--flag=value`, `-f value`, `-fvalue`, `-f=value`.
 */
export interface Flag {
  /** Without dashes. */
  readonly name: string;
  readonly short?: string;
  /** What its value is called in the help. A flag without one is a switch, and takes `=true` and `=false`. */
  readonly value?: string;
  /** Its line in the help; a flag without one is not shown. */
  readonly help?: string;
}

/** A command line, read. */
export interface Reading {
  /** The last value of a flag; `undefined` if it was not given. */
  text(name: string): string | undefined;
  /** All values of a flag, in order. */
  all(name: string): readonly string[];
  /** Whether a switch is on. */
  isOn(name: string): boolean;
  /** Words that are no flags. */
  readonly words: readonly string[];
  /** What follows `--`; `undefined` if there is no `--`. */
  readonly rest: readonly string[] | undefined;
}

/** Every command has it. */
export const HELP: Flag = { name: "help", short: "h", help: "show this help" };

/**
 * Reads the words of a command; those behind one that is no flag are not looked at if the command takes none, as they
 * were meant for another. Errors: a `UsageError` for what is no flag of it, or has no value; it names the help.
 */
export function readFlags(
  flags: readonly Flag[],
  args: readonly string[],
  program: string,
  { takesWords = true } = {},
): Reading {
  const end = args.indexOf("--");
  const queue = end < 0 ? [...args] : args.slice(0, end);
  const values = new Map<string, string[]>();
  const words: string[] = [];
  for (let word = queue.shift(); word !== undefined; word = queue.shift()) {
    if (!word.startsWith("-") || word === "-") words.push(word, ...takesWords ? [] : queue.splice(0));
    else take([...flags, HELP], word, { queue, values, hint: `see "${program} --help"` });
  }
  return {
    text: (name) => values.get(name)?.at(-1),
    all: (name) => values.get(name) ?? [],
    isOn: (name) => values.get(name)?.at(-1) === "true",
    words,
    rest: end < 0 ? undefined : args.slice(end + 1),
  };
}

interface State {
  readonly queue: string[];
  readonly values: Map<string, string[]>;
  readonly hint: string;
}

function take(flags: readonly Flag[], word: string, { queue, values, hint }: State): void {
  const { flag, value } = split(flags, word, hint);
  const text = value ?? (flag.value === undefined ? "true" : queue.shift());
  if (text === undefined) throw new UsageError(`The flag ${nameOf(flag)} needs a value`, { hint });
  values.set(flag.name, [...values.get(flag.name) ?? [], flag.value === undefined ? asBoolean(flag, text) : text]);
}

/** The flag of a word, and the value in it. */
function split(flags: readonly Flag[], word: string, hint: string): { flag: Flag; value: string | undefined } {
  const [, long, short, rest = ""] = /^(?:--([^=]*)|-(.))([^]*)$/.exec(word) ?? [];
  const flag = flags.find((each) => long === undefined ? each.short === short : each.name === long);
  const value = rest.startsWith("=") ? rest.slice(1) : rest === "" ? undefined : rest;
  if (flag === undefined || (flag.value === undefined && value !== undefined && !rest.startsWith("="))) {
    throw unknownFlag(flags, word.replace(/=.*$/s, ""), hint);
  }
  return { flag, value };
}

function unknownFlag(flags: readonly Flag[], word: string, hint: string): UsageError {
  const meant = closest(
    word.replace(/^-+/, ""),
    flags.filter(({ help }) => help !== undefined).map(({ name }) => name),
  );
  return new UsageError(`Unknown flag "${word}"`, {
    hint: meant === undefined || !word.startsWith("--") ? hint : `did you mean "--${meant}"?`,
  });
}

/** Go's ParseBool. */
function asBoolean(flag: Flag, text: string): string {
  if (/^(1|t|true)$/i.test(text)) return "true";
  if (/^(0|f|false)$/i.test(text)) return "false";
  throw new UsageError(`The flag ${nameOf(flag)} cannot be "${text}"`, { hint: 'it takes "true" or "false"' });
}

/** `-o/--output`. */
export function nameOf({ name, short }: Flag): string {
  return short === undefined ? `--${name}` : `-${short}/--${name}`;
}
