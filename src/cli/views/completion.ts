/** What may follow the words of a command line, by the protocol of Cobra's `__complete`, which kubectl speaks. */
import { type Flag, type FlagTable, flagTable, spellingsOf, standsAlone } from "../../core/command/mod.ts";
import type { Command } from "../command.ts";
import { foundRoot, subcommandOf } from "../dispatch.ts";
import { shownFlags } from "./text.ts";

/** A value that may be typed. */
export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Cobra's directives: what the shell does besides offering candidates. */
export const DIRECTIVE = { files: 0, noFiles: 4 } as const;

/** Candidates for the last word. */
export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/** Completes the last of the words; it may be empty. */
export async function complete(root: Command, words: readonly string[]): Promise<Completion> {
  const [before, word] = [words.slice(0, -1), words.at(-1) ?? ""];
  if (before.includes("--")) return { candidates: [], directive: DIRECTIVE.files };
  const { command, args } = await innermost(root, before);
  const flags = flagTable(await command.flags());
  const awaiting = flagAwaitingValue(flags, args, word);
  if (awaiting !== undefined) return valuesOf(awaiting.flag, awaiting.prefix);
  if (word.startsWith("-")) return only(word, flagCandidates(flags));
  const isFirst = args.every((each) => each.startsWith("-"));
  const commands = isFirst ? await commandCandidates(command) : [];
  const allowed = (command.positional?.allowed ?? []).map((value) => ({ value }));
  return only(word, [...commands, ...allowed]);
}

/** Candidates as kubectl reads them, a line each, and the directive in the last line. */
export function completionText({ candidates, directive }: Completion): string {
  const lines = candidates.map(({ value, description }) =>
    description === undefined ? value : `${value}\t${description}`
  );
  return [...lines, `:${directive}`, ""].join("\n");
}

async function innermost(root: Command, words: readonly string[]) {
  let found = foundRoot(root, words);
  for (let next = await subcommandOf(found); next !== undefined; next = await subcommandOf(found)) found = next;
  return found;
}

/** The flag whose value is typed: in the word itself behind `=`, or it is the word before. */
function flagAwaitingValue(flags: FlagTable, args: readonly string[], word: string) {
  const spellings = spellingsOf(flags);
  const [, inWord, prefix = ""] = /^(--[^=]+)=([^]*)$/.exec(word) ?? [];
  const flag = flags[spellings.get(inWord ?? args.at(-1) ?? "") ?? ""];
  if (flag === undefined || (inWord === undefined && standsAlone(flag))) return undefined;
  return { flag, prefix: inWord === undefined ? word : prefix };
}

function valuesOf({ type, allowed, value: name }: Flag, prefix: string): Completion {
  const values = type === "boolean" ? ["true", "false"] : allowed ?? [];
  const takesFile = type === "file" || type === "files" || name?.includes("FILE");
  const directive = takesFile ? DIRECTIVE.files : DIRECTIVE.noFiles;
  return { ...only(prefix, values.map((value) => ({ value }))), directive };
}

function flagCandidates(flags: FlagTable): Candidate[] {
  return [...shownFlags(flags), { name: "help", short: "h", doc: "Show this help" }].flatMap(({ name, short, doc }) => {
    if (name === undefined) return [];
    const long = { value: `--${name}`, description: doc };
    return short === undefined ? [long] : [long, { value: `-${short}`, description: doc }];
  });
}

async function commandCandidates({ commands }: Command): Promise<Candidate[]> {
  return await Promise.all(
    Object.entries(commands).map(async ([value, load]) => ({ value, description: (await load()).summary })),
  );
}

function only(prefix: string, candidates: readonly Candidate[]): Completion {
  return { candidates: candidates.filter(({ value }) => value.startsWith(prefix)), directive: DIRECTIVE.noFiles };
}
