/** A command as a man page: troff with the macros of man(7). */
import type { Flag } from "../../src/golang/flags/mod.ts";
import type { Example } from "../../src/cli/command.ts";
import { exitRows, flagNotes, flagTitle, shownGroups, usageText } from "../../src/cli/views/text.ts";
import type { NamedCommand } from "./commands.ts";

/** The name of the page: `kubectl-mesh-webhook-serve`. */
export function pageName({ program }: Pick<NamedCommand, "program">): string {
  return program.replaceAll(" ", "-");
}

/** The text of the page. `others`: names of pages to see also. */
export function manPage(named: NamedCommand, others: readonly string[]): string {
  const { program, command, groups } = named;
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
    ...section("EXAMPLES", (command.examples ?? []).flatMap(exampleLines)),
    ...section("OPTIONS", options),
    ...section(
      "EXIT STATUS",
      exitRows(command.exits ?? {}).flatMap(([code, meaning]) => [".TP", `.B ${plain(code)}`, plain(meaning)]),
    ),
    ...section("SEE ALSO", [others.map((name) => `${plain(name)}(1)`).join(", ")].filter(Boolean)),
  ];
  return `${lines.join("\n")}\n`;
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : [`.SH ${title}`, ...lines];
}

function flagLines(flag: Flag): string[] {
  const notes = flagNotes(flag);
  const text = notes.length === 0 ? flag.doc : `${flag.doc} (${notes.join("; ")})`;
  return [".TP", `.B ${plain(flagTitle(flag))}`, plain(text)];
}

function exampleLines({ title, command }: Example): string[] {
  return [...title === undefined ? [] : [".PP", plain(`${title}:`)], ".PP", ".nf", plain(command), ".fi"];
}

/** Text that troff prints as it is: a dot or an apostrophe at the start of a line is a macro elsewhere. */
function plain(text: string): string {
  return text.replaceAll("\\", "\\e").replaceAll("-", "\\-").replaceAll(/^([.'])/gm, "\\&$1");
}
