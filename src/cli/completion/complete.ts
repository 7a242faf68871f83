/** Completes a command line by the protocol of Cobra's `__complete`, which kubectl uses. */
import {
  type Completes,
  type Flag,
  type FlagTable,
  flagTable,
  isRepeatable,
  type Line,
  parseFlags,
  spellingsOf,
  standsAlone,
} from "../../golang/flags/mod.ts";
import type { Command, Positional } from "../command.ts";
import { foundRoot, subcommandOf } from "../dispatch.ts";
import { shownFlags } from "../views/text.ts";

export interface Candidate {
  readonly value: string;
  readonly description?: string;
}

/** Cobra's directives (bits), which change how the shell uses the candidates. */
export const DIRECTIVE = { files: 0, error: 1, noSpace: 2, noFiles: 4, extensions: 8, folders: 16 } as const;

export interface Completion {
  readonly candidates: readonly Candidate[];
  readonly directive: number;
}

/** The word to complete, and its context. */
export interface Wanted {
  readonly completes: Completes;
  readonly prefix: string;
  /** The flags of the command. `line` is the part of the command line before the word. */
  readonly flags: FlagTable;
  readonly line: Line;
}

/** Finds values for a word. The caller drops values without the prefix. */
export type Find = (wanted: Wanted) => Promise<readonly Candidate[]>;

/** Completes the last word, which may be empty. Rejects with the errors of `find`. */
export async function complete(root: Command, words: readonly string[], find: Find): Promise<Completion> {
  const [before, word] = [words.slice(0, -1), words.at(-1) ?? ""];
  if (before.includes("--")) return { candidates: [], directive: DIRECTIVE.files };
  const { command, args } = await innermost(root, before);
  const flags = flagTable(await command.flags());
  const awaiting = flagAwaitingValue(flags, args, word);
  const at = { flags, line: parseFlags(flags, args), find };
  if (awaiting !== undefined) return await valuesOf(awaiting.flag, awaiting.prefix, at);
  if (word.startsWith("-")) return offered(word, flagCandidates(flags));
  const commands = at.line.words.length === 0 ? await commandCandidates(command) : [];
  const positional: Partial<Positional> = command.positional ?? {};
  const completion = offered(word, [...commands, ...await argumentCandidates(positional, word, at)]);
  return positional.completes === "configurations" ? { ...completion, directive: DIRECTIVE.files } : completion;
}

/** Formats the candidates for kubectl: one per line, then the directive. */
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

/** Returns the flag whose value the user types, as `--flag=VALUE` or as the word after `--flag`. */
function flagAwaitingValue(flags: FlagTable, args: readonly string[], word: string) {
  const spellings = spellingsOf(flags);
  const [, inWord, prefix = ""] = /^(--?[^=]+)=([^]*)$/.exec(word) ?? [];
  const flag = flags[spellings.get(inWord ?? args.at(-1) ?? "") ?? ""];
  if (flag === undefined || (inWord === undefined && standsAlone(flag))) return undefined;
  return { flag, prefix: inWord === undefined ? word : prefix };
}

type At = Pick<Wanted, "flags" | "line"> & { readonly find: Find };

async function valuesOf(flag: Flag, prefix: string, { find, ...at }: At): Promise<Completion> {
  const { type, allowed = [], completes } = flag;
  if (completes === "folders") return { candidates: [], directive: DIRECTIVE.folders };
  if (completes === "manifests") return { candidates: valued(MANIFESTS), directive: DIRECTIVE.extensions };
  // In a list, keep the items before the last comma.
  const kept = isRepeatable(flag) && type !== "texts" ? prefix.slice(0, prefix.lastIndexOf(",") + 1) : "";
  const given = new Set(kept.split(","));
  const found = completes === undefined ? [] : await find({ ...at, completes, prefix: prefix.slice(kept.length) });
  const values = [...valued(type === "boolean" ? ["true", "false"] : allowed), ...found]
    .filter(({ value }) => !given.has(value)).map((each) => ({ ...each, value: `${kept}${each.value}` }));
  return { ...offered(prefix, values), ...takesFile(flag) ? { directive: DIRECTIVE.files } : {} };
}

/** File name suffixes of manifests. */
const MANIFESTS = ["yaml", "yml", "json"];

function valued(values: readonly string[]): Candidate[] {
  return values.map((value) => ({ value }));
}

function takesFile({ type, value }: Flag): boolean {
  return type === "file" || type === "files" || value?.includes("FILE") === true;
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

async function argumentCandidates(
  { allowed = [], completes }: Partial<Positional>,
  prefix: string,
  { find, ...at }: At,
): Promise<readonly Candidate[]> {
  const fixed = valued(allowed.filter((value) => !at.line.words.includes(value)));
  if (completes === undefined) return fixed;
  if (completes === "configurations") return [...fixed, ...await find({ ...at, completes, prefix })];
  const [kind, ...more] = at.line.words;
  // `deployment web` means `deployment/web`.
  const isName = kind !== undefined && !kind.includes("/") && more.length === 0;
  if (kind !== undefined && !isName) return fixed;
  const start = kind === undefined ? "" : `${kind}/`;
  const found = await find({ ...at, completes, prefix: `${start}${prefix}` });
  const own = found.filter(({ value }) => value.startsWith(start));
  return [...fixed, ...own.map((each) => ({ ...each, value: each.value.slice(start.length) }))];
}

/** Returns the candidates with the prefix. After a kind (`deployment/`), the shell must not add a space. */
function offered(prefix: string, all: readonly Candidate[]): Completion {
  const candidates = all.filter(({ value }) => value.startsWith(prefix));
  const isOpen = candidates.length > 0 && candidates.every(({ value }) => value.endsWith("/"));
  return { candidates, directive: DIRECTIVE.noFiles + (isOpen ? DIRECTIVE.noSpace : 0) };
}
