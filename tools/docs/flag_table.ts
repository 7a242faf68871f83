/** The flags of a command as Markdown: a table for each group. */
import type { Flag, FlagGroups } from "../../src/golang/flags/mod.ts";
import { defaultText, flagTitle, repeatNotes, shownGroups } from "../../src/cli/views/text.ts";

/** The tables, with a blank line before each and behind the last. */
export function flagTables(groups: FlagGroups): string {
  return shownGroups(groups).map(([title, flags]) => {
    const rows = flags.map((flag) => `| ${cells(flag).map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`);
    return `\n${title}:\n\n| flag | default | variable | what |\n|---|---|---|---|\n${rows.join("")}`;
  }).join("") + "\n";
}

function cells(flag: Flag): string[] {
  const variables = flag.name === undefined ? [] : flag.env ?? [];
  const fallback = flag.defaultDoc ?? code(defaultText(flag));
  return [code(flagTitle(flag)), fallback, variables.map(code).join(", "), [flag.doc, ...repeatNotes(flag)].join("; ")];
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
