/**
 * Reads the examples in a page of docs/, which run as tests. A code block is an example if it starts with one of these
 * lines:
 *
 * - ```` ```yaml file=NAME ```` writes the block to a file in the page's folder;
 * - ```` ```console run PROGRAM ... ```` runs the commands in the block there: a line that begins with `$ ` is a
 * command for bash (`> ` continues it), and the following lines are its whole output, with standard error. A line `...`
 * matches any number of lines. PROGRAM is a program that the commands need; `cluster` means a cluster with a mesh
 * (test/e2e/docs_test.ts).
 *
 * Browsers show both as usual, because they ignore everything after the first word. Every command must exit with 0,
 * except in a block marked `fails`, where it must exit with a different code.
 */

/** A file that the page shows, which is written before later commands run. */
export interface ShownFile {
  readonly file: string;
  readonly text: string;
}

/** A command that the page shows, with its expected output. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
  readonly needs: readonly string[];
  /** Whether the exit code must not be 0. */
  readonly fails: boolean;
  /** The line number in the page. */
  readonly line: number;
}

const FENCE = /^```(?:\w+ file=(?<file>\S+)|console run(?<needs>(?: \S+)*))\n(?<body>[^]*?)^```$/gm;
const COMMAND = /^\$ (?<first>.*)\n(?<more>(?:> .*\n)*)(?<output>(?:(?!\$ ).*\n)*)/gm;

/** Returns the files and commands in a page, in order. */
export function examplesOf(page: string): readonly (ShownFile | ShownCommand)[] {
  return [...page.matchAll(FENCE)].flatMap(({ index, groups = {} }): readonly (ShownFile | ShownCommand)[] => {
    const { file, needs = "", body: text = "" } = groups;
    if (file !== undefined) return [{ file, text }];
    const start = page.slice(0, index).split("\n").length + 1;
    const words = needs.split(" ").filter((name) => name !== "");
    return commandsOf(text).map(({ line, ...shown }) => ({
      ...shown,
      needs: words.filter((word) => word !== "fails"),
      fails: words.includes("fails"),
      line: start + line,
    }));
  });
}

function commandsOf(body: string) {
  return [...body.matchAll(COMMAND)].map(({ index, groups: { first = "", more = "", output = "" } = {} }) => ({
    command: `${first}\n${more.replaceAll(/^> /gm, "")}`.trimEnd(),
    output,
    line: body.slice(0, index).split("\n").length - 1,
  }));
}

/** Whether the printed output matches the output that the page shows. */
export function isShown(shown: string, printed: string): boolean {
  const pattern = shown.split(/^\.\.\.\n/m).map(escaped).join("(?:.*\\n)*");
  return new RegExp(`^${pattern}$`).test(printed);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** Returns the page with new outputs, by the line number of the command. Outputs that contain `...` stay. */
export function withOutputs(page: string, outputs: ReadonlyMap<number, string>): string {
  let text = page;
  for (const example of examplesOf(page).toReversed()) {
    if (!("line" in example) || /^\.\.\.$/m.test(example.output)) continue;
    const printed = outputs.get(example.line);
    if (printed === undefined) continue;
    const lines = text.split("\n");
    const from = example.line - 1 + example.command.split("\n").length;
    lines.splice(from, example.output.split("\n").length - 1, ...printed.split("\n").slice(0, -1));
    text = lines.join("\n");
  }
  return text;
}
