/** The flags of a command as Markdown: a table for each group. */
import type { Flag, FlagGroups } from "../../src/core/command/mod.ts";
import { defaultText, flagTitle, shownGroups } from "../../src/cli/views/text.ts";

/** The tables, with a blank line before each and behind the last. */
export function flagTables(groups: FlagGroups): string {
  return shownGroups(groups).map(([title, flags]) => {
    const rows = flags.map((flag) => `| ${cells(flag).map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`);
    return `\n${title}:\n\n| flag | default | variable | what |\n|---|---|---|---|\n${rows.join("")}`;
  }).join("") + "\n";
}

function cells(flag: Flag): string[] {
  const variables = flag.name === undefined ? [] : flag.env ?? [];
  return [code(flagTitle(flag)), code(defaultText(flag)), variables.map(code).join(", "), flag.doc];
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
