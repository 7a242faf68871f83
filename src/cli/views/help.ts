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
    `${command.summary}.`,
    `Usage:\n${indented(wrapped(`${program} ${usageText(command)}`, width - 4), "  ", "    ")}`,
    ...paragraphs(command.description, width),
    ...section("Examples", examplesText(command.examples ?? [], width)),
    ...tables.map(([title, rows]) => [`${title}:`, ...table(rows, width)].join("\n")),
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

/** Formats examples. An empty line precedes an example with a title. Commands stay on one line, because users copy them. */
function examplesText(examples: readonly Example[], width: number): string[] {
  return examples.flatMap(({ title, command }, index) => {
    const lines = command.split("\n").map((line) => `  ${line}`);
    if (title === undefined) return lines;
    return [...index === 0 ? [] : [""], ...wrapped(title, width - 4).map((line) => `  # ${line}`), ...lines];
  });
}

function indented(lines: readonly string[], first: string, others: string): string {
  return lines.map((line, index) => (index === 0 ? first : others) + line).join("\n");
}

function table(rows: readonly Row[], width: number): string[] {
  const widths = rows.map(([name]) => name.length).filter((width) => width <= MAX_NAME);
  const column = Math.max(0, ...widths) + 4;
  return rows.flatMap(([name, text]) => {
    const lines = wrapped(text, width - column).map((line) => " ".repeat(column) + line);
    if (name.length > MAX_NAME) return [`  ${name}`, ...lines];
    return lines.map((line, index) => index === 0 ? `  ${name}`.padEnd(column) + line.slice(column) : line);
  });
}
