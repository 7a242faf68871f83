/** The text of `--help`: summary, usage, description, examples, subcommands, flags in groups, exit codes. */
import { wrapped } from "../../base/text/mod.ts";
import type { Flag } from "../../golang/flags/mod.ts";
import type { Command, Example } from "../command.ts";
import { exitRows, flagNotes, flagTitle, shownGroups, usageText } from "./text.ts";

/** Columns for docs and tests. The other two constants are the minimum and maximum at a terminal. */
const WIDTH = 80;
const LEAST_WIDTH = 60;
const MAX_WIDTH = 120;

/** Maximum width of a flag's name; after a longer name, the text begins on its own line. */
const MAX_NAME = 30;

/** Spaces around a name: two before it and two after it. */
const GAP = 4;

/** A word of a command, in which quotes may hold spaces. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
const BACKSLASH = " \\";

const HELP: Flag = { name: "help", short: "h", type: "boolean", doc: "Show this help" };

type Row = readonly [name: string, text: string];

/** Returns the help of a command. `program` is the name that users type, `columns` the width of the terminal. */
export async function helpText(command: Command, program: string, columns = WIDTH): Promise<string> {
  const width = Math.min(MAX_WIDTH, Math.max(LEAST_WIDTH, columns));
  const commands = await Promise.all(
    Object.entries(command.commands).map(async ([name, load]): Promise<Row> => [name, (await load()).summary]),
  );
  const groups = shownGroups(await command.flags());
  const flags = groups.map(([title, group]): [string, Row[]] => [title, group.map(flagRow)]);
  const tables = [...commands.length === 0 ? [] : [["Commands", commands] as const], ...withHelp(flags)];
  const parts = [
    ...paragraphs(`${command.summary}.`, width),
    `Usage:\n  ${wrapped(`${program} ${usageText(command)}`, width - 4).join("\n    ")}`,
    ...paragraphs(command.description, width),
    ...section("Examples", examplesText(command.examples ?? [], width)),
    ...tables.map(([title, rows]) => [...wrapped(`${title}:`, width), ...table(rows, width)].join("\n")),
    ...section("Exit codes", table(exitRows(command.exits ?? {}), width)),
    ...commands.length === 0 ? [] : paragraphs(`"${program} COMMAND --help" shows the flags of a command.`, width),
  ];
  return `${parts.join("\n\n")}\n`;
}

/** Adds `--help` as the last flag. */
function withHelp(groups: readonly [string, Row[]][]): (readonly [string, Row[]])[] {
  const last = groups.findLastIndex(([, rows]) => rows.some(([name]) => name.trim().startsWith("-")));
  if (last < 0) return [...groups, ["Flags", [flagRow(HELP)]]];
  return groups.map(([title, rows], index) => [title, index === last ? [...rows, flagRow(HELP)] : rows]);
}

function flagRow(flag: Flag): Row {
  const notes = flagNotes(flag);
  const name = flag.short === undefined && flag.name !== undefined ? `    ${flagTitle(flag)}` : flagTitle(flag);
  return [name, notes.length === 0 ? flag.doc : `${flag.doc} (${notes.join("; ")})`];
}

function paragraphs(text: string | undefined, width: number): string[] {
  return text === undefined ? [] : [text.split("\n").map((line) => wrapped(line, width).join("\n")).join("\n\n")];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [[`${title}:`, ...lines].join("\n")];
}

/** Formats examples. An empty line precedes an example with a title. */
function examplesText(examples: readonly Example[], width: number): string[] {
  return examples.flatMap(({ title, command }, index) => {
    const lines = command.split("\n").flatMap((line) => brokenCommand(line, width - 2)).map((line) => `  ${line}`);
    if (title === undefined) return lines;
    return [...index === 0 ? [] : [""], ...wrapped(title, width - 4).map((line) => `  # ${line}`), ...lines];
  });
}

/**
 * Breaks a command that is too long for the terminal into lines that still run when users copy them. Breaks after a
 * `|` if possible, which also works in PowerShell. Otherwise ends the line with a backslash, if possible before a
 * flag.
 */
function brokenCommand(line: string, width: number): string[] {
  if (line.length <= width) return [line];
  const ends = [...line.matchAll(WORD)].map(({ index, 0: { length } }) => index + length);
  const pipe = ends.findLast((end) => end <= width && line[end - 1] === "|");
  const fitting = ends.filter((end) => end + BACKSLASH.length <= width);
  const end = pipe ?? fitting.findLast((end) => line.startsWith(" -", end)) ?? fitting.at(-1);
  if (end === undefined) return [line];
  const first = line.slice(0, end) + (pipe === undefined ? BACKSLASH : "");
  return [first, ...brokenCommand(`  ${line.slice(end).trimStart()}`, width)];
}

/** Formats rows with texts in a second column, which starts further left if a word of a text would not fit. */
function table(rows: readonly Row[], width: number): string[] {
  const longest = Math.max(0, ...rows.flatMap(([, text]) => text.split(" ").map((word) => word.length)));
  const widths = rows.map(([name]) => name.length).filter((width) => width <= MAX_NAME);
  const column = Math.min(Math.max(0, ...widths) + GAP, Math.max(GAP, width - longest));
  return rows.flatMap(([name, text]) => {
    const lines = wrapped(text, width - column).map((line) => " ".repeat(column) + line);
    if (name.length + GAP > column) return [...brokenName(name, width - 2).map((line) => `  ${line}`), ...lines];
    return lines.map((line, index) => index === 0 ? `  ${name}`.padEnd(column) + line.slice(column) : line);
  });
}

/** Breaks a name with many values, such as `--of listeners|routes`, after a `|`. */
function brokenName(name: string, width: number): string[] {
  const end = name.lastIndexOf("|", width - 1) + 1;
  return name.length <= width || end === 0
    ? [name]
    : [name.slice(0, end), ...brokenName(`          ${name.slice(end)}`, width)];
}
