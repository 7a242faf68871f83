/** The flags of a command as Markdown: a table for each group. */
import type { Flag, FlagGroups } from "../../src/golang/flags/mod.ts";
import { defaultText, flagTitle, repeatNotes, shownGroups } from "../../src/cli/views/text.ts";

/** Returns the tables, each after a blank line, with a blank line at the end. Empty columns are left out. */
export function flagTables(groups: FlagGroups): string {
  return shownGroups(groups).map(([title, flags]) => {
    const isVariables = flags.every(({ name }) => name === undefined);
    const table = [[isVariables ? "variable" : "flag", "default", "variable", "what"], ...flags.map(cells)];
    const isShown = (_: string, at: number) => table.some((row, index) => index > 0 && row[at] !== "");
    const [head = "", ...rows] = table.map((row) => line(row.filter(isShown)));
    return `\n${title}:\n\n${head}${head.replaceAll(/ \w+ /g, "---")}${rows.join("")}`;
  }).join("") + "\n";
}

function line(cells: readonly string[]): string {
  return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |\n`;
}

function cells(flag: Flag): string[] {
  const variables = flag.name === undefined ? [] : flag.env ?? [];
  const fallback = defaultText(flag);
  return [
    code(flagTitle(flag)),
    // A text with a space describes the default; other texts are the value itself.
    fallback.includes(" ") ? fallback : code(fallback),
    variables.map(code).join(", "),
    [flag.doc, ...repeatNotes(flag)].join("; "),
  ];
}

function code(text: string): string {
  return text === "" ? "" : `\`${text}\``;
}
