/** A command as a man page: troff with the macros of man(7). */
import type { Flag } from "../../src/golang/flags/mod.ts";
import type { Example } from "../../src/cli/command.ts";
import { exitRows, flagNotes, flagTitle, shownGroups, usageText } from "../../src/cli/views/text.ts";
import type { NamedCommand } from "./commands.ts";
import { EXITS, FILES, VARIABLES } from "./manual.ts";

/** The name of the page: `kubectl-mesh-webhook-serve`. */
export function pageName({ program }: Pick<NamedCommand, "program">): string {
  return program.replaceAll(" ", "-");
}

/** Returns the text of the page. `all` is the list of all commands, for the subcommands and the section "SEE ALSO". */
export function manPage(named: NamedCommand, all: readonly NamedCommand[]): string {
  const { program, command, groups } = named;
  const below = all.filter((each) => each.program.startsWith(`${program} `));
  const isWhole = named.name === "";
  const options = shownGroups(groups).flatMap(([title, flags]) => [`.SS ${plain(title)}`, ...flags.flatMap(flagLines)]);
  const lines = [
    `.TH ${pageName(named).toUpperCase().replaceAll("-", "\\-")} 1 "" "kubectl\\-mesh" "kubectl\\-mesh"`,
    ".SH NAME",
    `${plain(pageName(named))} \\- ${plain(command.summary)}`,
    ".SH SYNOPSIS",
    `.B ${plain(program)}`,
    plain(usageText(command)),
    ...section(
      "DESCRIPTION",
      (command.description ?? "").split("\n").filter(Boolean).flatMap((text) => [".PP", plain(text)]),
    ),
    ...section("COMMANDS", below.flatMap((each) => item(each.program, each.command.summary))),
    ...section("EXAMPLES", examplesOf(named, below).flatMap(exampleLines)),
    ...section("OPTIONS", options),
    ...section(
      "EXIT STATUS",
      exitRows((isWhole ? EXITS : command.exits) ?? {}).flatMap(([code, meaning]) => item(code, meaning)),
    ),
    ...isWhole ? section("ENVIRONMENT", Object.entries(VARIABLES).flatMap(([name, what]) => item(name, what))) : [],
    ...isWhole ? section("FILES", Object.entries(FILES).flatMap(([path, what]) => item(path, what))) : [],
    ...section("SEE ALSO", [seeAlso(named, all)]),
  ];
  return `${lines.join("\n")}\n`;
}

/** Returns the command's own examples; for a group without examples, the first example of each command below it. */
function examplesOf({ command }: NamedCommand, below: readonly NamedCommand[]): readonly Example[] {
  const own = command.examples ?? [];
  return own.length > 0 ? own : below.flatMap(({ command }) => (command.examples ?? []).slice(0, 1));
}

function seeAlso(named: NamedCommand, all: readonly NamedCommand[]): string {
  const others = all.filter((each) => each !== named).map((each) => `${plain(pageName(each))}(1)`);
  return others.join(", ");
}

function item(name: string, text: string): string[] {
  return [".TP", `.B ${plain(name)}`, plain(text)];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function flagLines(flag: Flag): string[] {
  const notes = flagNotes(flag);
  const text = notes.length === 0 ? flag.doc : `${flag.doc} (${notes.join("; ")})`;
  return item(flagTitle(flag), text);
}

function exampleLines({ title, command }: Example): string[] {
  return [...title === undefined ? [] : [".PP", plain(`${title}:`)], ".PP", ".nf", plain(command), ".fi"];
}

/** Escapes text for troff, which takes a line that starts with a dot or an apostrophe for a macro. */
function plain(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll(/^([.'])/gm, "\\&$1");
}
