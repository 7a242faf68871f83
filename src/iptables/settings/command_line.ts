/** A command line with pflag's spellings, the single-dash words of Istio 1.3 and the `clean` of its shell script. */
import { readDuration } from "../../core/duration.ts";
import { closest } from "../../core/closest.ts";
import { parseBool, parseUint } from "../../core/net.ts";
import { type Flag, FLAG_LIST, type FlagKind, type FlagName, FLAGS } from "./flags.ts";

/** A flag as it was written: the texts that it was given, and under which name. */
export interface Given {
  readonly texts: readonly string[];
  readonly origin: string;
}

/** What a command line says, before any value is looked at. */
export interface CommandLine {
  readonly given: ReadonlyMap<FlagName, Given>;
  readonly words: readonly string[];
  /** What is wrong with it, all at once. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const LONG = new Map<string, FlagName>(
  FLAG_LIST.filter(([, { long }]) => long !== "").map(([name, { long }]) => [long, name]),
);
const SHORT = new Map<string, FlagName>(
  FLAG_LIST.flatMap(([name, { short }]) => short === undefined ? [] : [[short, name]]),
);

/** What is wrong with a text of a kind that has a form of its own. */
const READABLE: { readonly [kind in FlagKind]?: (text: string) => string | undefined } = {
  bool: (text) => parseBool(text) === undefined ? "it is neither true nor false" : undefined,
  uint16: (text) => {
    const number = parseUint(text, 16);
    return typeof number === "string" ? number : undefined;
  },
  duration: (text) => {
    const duration = readDuration(text);
    return typeof duration === "bigint" ? undefined : duration.reason;
  },
};

interface Reader {
  readonly queue: string[];
  readonly given: Map<FlagName, Given>;
  readonly words: string[];
  readonly problems: string[];
  readonly warnings: string[];
}

/** Reads a command line. It never fails: what cannot be read is told in `problems`. */
export function readCommandLine(args: readonly string[]): CommandLine {
  const reader: Reader = { queue: [...args], given: new Map(), words: [], problems: [], warnings: [] };
  for (let word = reader.queue.shift(); word !== undefined; word = reader.queue.shift()) {
    if (word === "--") reader.words.push(...reader.queue.splice(0));
    else readWord(reader, word);
  }
  return reader;
}

function readWord(reader: Reader, word: string): void {
  if (/^-dryRun(=|$)/.test(word)) readLong(reader, word.replace("-dryRun", "dry-run"));
  else if (word.startsWith("--")) readLong(reader, word.slice(2));
  else if (word.startsWith("-") && word.length > 1) readShorts(reader, word.slice(1));
  else reader.words.push(word);
}

function readLong(reader: Reader, text: string): void {
  const [, long = "", equals = "", value = ""] = /^([^=]*)(=?)([^]*)$/.exec(text) ?? [];
  const name = LONG.get(long);
  if (name === undefined) return void reader.problems.push(`Unknown flag "--${long}"${suggestion(long)}`);
  take(reader, name, `--${long}`, equals === "" ? undefined : value);
}

function suggestion(long: string): string {
  const meant = closest(long.replaceAll("_", "-"), [...LONG.keys()]);
  return meant === undefined ? "" : `: did you mean "--${meant}"?`;
}

/** `-p15001`, `-p=15001`, `-p 15001`, `-nu1337`: the first that takes a value takes the rest. */
function readShorts(reader: Reader, text: string): void {
  const short = text.charAt(0);
  const rest = text.slice(1);
  const name = SHORT.get(short);
  if (name === undefined) {
    return void reader.problems.push(`Unknown flag "-${short}"${text.length > 1 ? ` in "-${text}"` : ""}`);
  }
  const flag: Flag = FLAGS[name];
  if (rest.startsWith("=")) return take(reader, name, `-${short}`, rest.slice(1));
  if (flag.kind !== "bool") return take(reader, name, `-${short}`, rest === "" ? undefined : rest);
  take(reader, name, `-${short}`, undefined);
  if (rest !== "") readShorts(reader, rest);
}

function take(reader: Reader, name: FlagName, origin: string, value: string | undefined): void {
  const flag: Flag = FLAGS[name];
  if (flag.kind === "bool") return put(reader, name, origin, value ?? "true");
  if (value === undefined && isUnitTestMode(reader, flag)) {
    reader.warnings.push(`"-t" without a mark means the unit-test mode of Istio 1.2 and 1.3: nothing is applied`);
    return put(reader, "dryRun", "-t", "true");
  }
  const text = value ?? reader.queue.shift();
  if (text === undefined) return void reader.problems.push(`Flag "${origin}" needs a value`);
  put(reader, name, origin, text);
}

/** `-t` took no value before Istio 1.4: it stands alone, or before another flag. */
function isUnitTestMode(reader: Reader, flag: Flag): boolean {
  const next = reader.queue[0];
  return flag.kind === "optionalText" && (next === undefined || next.startsWith("-") || next === "clean");
}

/** pflag reads each value when it comes: one that a later one replaces is refused all the same. */
function put(reader: Reader, name: FlagName, origin: string, text: string): void {
  const flag: Flag = FLAGS[name];
  const problem = READABLE[flag.kind]?.(text);
  if (problem !== undefined) return void reader.problems.push(`Invalid value "${text}" for "${origin}": ${problem}`);
  const before = flag.repeatable === undefined ? [] : reader.given.get(name)?.texts ?? [];
  reader.given.set(name, { texts: [...before, text], origin });
}
