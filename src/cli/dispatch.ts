/** Finds the command in the arguments, and runs it. */
import { closest } from "../base/text/mod.ts";
import { EXIT, UsageError } from "../base/errors.ts";
import { columnsOf } from "../platform/terminal.ts";
import type { World } from "../platform/world.ts";
import type { Command } from "./command.ts";
import { reportFailure } from "./failure.ts";

/** A command, the name that users call it by, and its arguments. */
export interface Found {
  readonly command: Command;
  readonly program: string;
  readonly args: readonly string[];
  /** Reports an error. Taken from the nearest parent command with such a function. */
  readonly failure: NonNullable<Command["failure"]>;
}

/** Runs the command that the arguments name below `root` and returns the exit code. Never throws. */
export async function dispatch(world: World, root: Command, args: readonly string[]): Promise<number> {
  let found = foundRoot(root, args);
  try {
    for (let next: Found | undefined = found; next !== undefined; next = await subcommandOf(found)) found = next;
    return await run(world, found);
  } catch (error) {
    return found.failure(world, error, args);
  }
}

/** Returns the starting point of a search for a command. */
export function foundRoot(root: Command, args: readonly string[]): Found {
  return { command: root, program: root.program ?? "", args: ordered(root, args), failure: reportFailure };
}

/** Returns the subcommand named in the first argument; `undefined` if the argument is not a subcommand. */
export async function subcommandOf({ command, program, args, failure }: Found): Promise<Found | undefined> {
  const [first = "", ...rest] = args;
  const name = ownText(command.aliases, first) ?? first;
  const load = subcommand(command, name);
  if (load === undefined) return undefined;
  const found = await load();
  return {
    command: found,
    program: found.program ?? `${program} ${name}`,
    args: ordered(found, rest),
    failure: found.failure ?? failure,
  };
}

function subcommand({ commands, hiddenCommands }: Command, name: string) {
  const all = Object.hasOwn(commands, name) ? commands : hiddenCommands;
  return Object.hasOwn(all, name) ? all[name] : undefined;
}

/** Moves the name of a subcommand before its flags, and converts `help NAME` to `NAME --help`. */
function ordered(command: Command, args: readonly string[]): readonly string[] {
  const [first = "", ...rest] = args;
  if (first === "help" && Object.keys(command.commands).length > 0) return ordered(command, [...rest, "--help"]);
  if (command.start !== undefined || !first.startsWith("-") || isHelp(first)) return args;
  const at = args.findIndex((word) => subcommand(command, word) !== undefined);
  return at < 0 ? args : [...args.slice(at, at + 1), ...args.slice(0, at), ...args.slice(at + 1)];
}

function ownText(texts: Readonly<Record<string, string>>, key: string): string | undefined {
  return Object.hasOwn(texts, key) ? texts[key] : undefined;
}

function isHelp(word: string): boolean {
  return word === "-h" || word === "--help";
}

async function run(world: World, found: Found): Promise<number> {
  const { command, program, args: [first = ""] } = found;
  refuseUnknown(found, first);
  const outcome = command.start === undefined ? "help" : await command.start(world, found.args, program);
  if (outcome !== "help") return outcome;
  const { helpText } = await import("./views/help.ts");
  world.stdout.write(await helpText(command, program, columnsOf(world)));
  return EXIT.ok;
}

/** Throws a UsageError if the first argument must be a subcommand but is unknown, or looks like a misspelt subcommand. */
function refuseUnknown({ command, program }: Found, first: string): void {
  const isGroup = command.start === undefined;
  if (isHelp(first) || (first === "" && command.showsHelp)) return;
  const hint = `see "${program} --help"`;
  if (isGroup && /^-|^$/.test(first)) throw new UsageError(withoutCommand(command, first), { hint });
  const meant = meantCommand(command, first);
  if (!isGroup && meant === undefined) return;
  const words = [...program.split(" "), first].filter((word) => !PLUGIN.includes(word));
  throw new UsageError(`Unknown command "${words.join(" ")}"`, { hint: meant ?? hint });
}

/** Returns the error message for a command group that is called with a flag, or nothing, in place of a subcommand. */
function withoutCommand({ commands }: Command, first: string): string {
  if (first === "") return `A command is missing: ${Object.keys(commands).join(", ")}`;
  return `Unknown flag "${first.replace(/=.*$/s, "")}"`;
}

/** Returns the hint for a misspelt subcommand, or for a subcommand's name in another program. */
function meantCommand({ renamed, commands }: Command, word: string): string | undefined {
  const here = ownText(renamed, word);
  if (here !== undefined) return `use "${here}"`;
  const meant = closest(word, Object.keys(commands));
  return meant === undefined ? undefined : `did you mean "${meant}"?`;
}

const PLUGIN: readonly string[] = ["kubectl", "mesh"];
