/** The command line of `agent` and of `pilot-agent proxy`: long flags in pflag's spellings, and the role. */
import { readDuration } from "../../core/duration.ts";
import { closest } from "../../core/closest.ts";
import { parseBool, parseUint } from "../../core/net.ts";
import { type Flag, FLAG_LIST, type FlagKind, type FlagName, FLAGS, isRole } from "./flags.ts";

/** Whose command line it is: `pilot-agent` passes over what it does not know, as that program does. */
export type ProgramName = "agent" | "pilot-agent";

/** What a command line says, before any value is used. */
export interface CommandLine {
  readonly given: ReadonlyMap<FlagName, string>;
  readonly words: readonly string[];
  /** What is wrong with it, all at once. */
  readonly problems: readonly string[];
  readonly warnings: readonly string[];
}

const LONG = new Map<string, FlagName>(FLAG_LIST.map(([name, { long }]) => [long, name]));

/** What is wrong with a text of a kind that has a form of its own. */
const READABLE: { readonly [kind in FlagKind]?: (text: string) => string | undefined } = {
  bool: (text) => parseBool(text) === undefined ? "it is neither true nor false" : undefined,
  int: (text) => problemOf(parseUint(text, 32)),
  port: (text) => problemOf(parseUint(text, 16)),
  duration: (text) => {
    const duration = readDuration(text);
    return typeof duration === "bigint" ? undefined : duration.reason;
  },
};

function problemOf(read: number | string): string | undefined {
  return typeof read === "string" ? read : undefined;
}

interface Reader {
  readonly program: ProgramName;
  readonly queue: string[];
  readonly given: Map<FlagName, string>;
  readonly words: string[];
  readonly problems: string[];
  readonly warnings: string[];
}

/** Reads a command line. It never fails: what cannot be read is told in `problems`. */
export function readCommandLine(args: readonly string[], program: ProgramName): CommandLine {
  const reader: Reader = { program, queue: [...args], given: new Map(), words: [], problems: [], warnings: [] };
  for (let word = reader.queue.shift(); word !== undefined; word = reader.queue.shift()) {
    if (word === "--") reader.words.push(...reader.queue.splice(0));
    else if (word === "-h") reader.given.set("help", "true");
    else if (word.startsWith("-") && word.length > 1) readFlag(reader, word);
    else reader.words.push(word);
  }
  return reader;
}

function readFlag(reader: Reader, word: string): void {
  const [, long = "", equals = "", value = ""] = /^--?([^=]*)(=?)([^]*)$/.exec(word) ?? [];
  const name = word.startsWith("--") ? LONG.get(long) : undefined;
  if (name === undefined) return passUnknown(reader, word, equals !== "");
  const flag: Flag = FLAGS[name];
  if (equals !== "") return put(reader, name, value);
  if (flag.kind === "bool") return put(reader, name, "true");
  const next = reader.queue.shift();
  if (next === undefined) return void reader.problems.push(`Flag "--${long}" needs a value`);
  put(reader, name, next);
}

/** The value of an unknown flag may follow it; a role never is one, or the proxy would silently become a sidecar. */
function passUnknown(reader: Reader, word: string, hasValue: boolean): void {
  const name = word.replace(/=.*$/s, "");
  const next = reader.queue[0];
  const mayBeValue = !hasValue && next !== undefined && !next.startsWith("-") && !isRole(next);
  if (reader.program === "pilot-agent") {
    reader.warnings.push(`The flag "${name}" is unknown and has no effect`);
    if (mayBeValue) reader.queue.shift();
    return;
  }
  const meant = closest(name.replace(/^-+/, ""), [...LONG.keys()]);
  reader.problems.push(`Unknown flag "${name}"${meant === undefined ? "" : `: did you mean "--${meant}"?`}`);
  if (mayBeValue && takesValue(meant)) reader.queue.shift();
}

function takesValue(long: string | undefined): boolean {
  const name = LONG.get(long ?? "");
  return name !== undefined && FLAGS[name].kind !== "bool";
}

/** pflag reads each value when it comes: one that a later one replaces is refused all the same. */
function put(reader: Reader, name: FlagName, text: string): void {
  const flag: Flag = FLAGS[name];
  const problem = READABLE[flag.kind]?.(text);
  if (problem !== undefined) {
    return void reader.problems.push(`Invalid value "${text}" for "--${flag.long}": ${problem}`);
  }
  const before = flag.repeatable === undefined ? undefined : reader.given.get(name);
  reader.given.set(name, before === undefined ? text : `${before},${text}`);
}
