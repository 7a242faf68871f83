/**
 * The examples of a page of docs/ as a test. A code block whose first line is
 *
 * - ```` ```yaml file=NAME ```` is a file of the page's folder, from there on;
 * - ```` ```console run PROGRAM ... ```` is run there: lines that begin with `$ ` are commands for bash (`> ` continues one), the
 *   lines below are all that it prints, standard error too. A line `...` stands for any lines. PROGRAM is one that the commands need;
 *   `cluster` is a cluster with a mesh (test/e2e/docs_test.ts).
 *
 * A browser shows both as usual: it ignores what follows the first word. Every command must end with exit code 0, and with another
 * one in a block that says `fails`.
 */

/** A file that the page shows. */
export interface ShownFile {
  readonly file: string;
  readonly text: string;
}

/** A command that the page shows. */
export interface ShownCommand {
  readonly command: string;
  readonly output: string;
  readonly needs: readonly string[];
  /** Whether it must end with another exit code than 0. */
  readonly fails: boolean;
  /** The line of the page. */
  readonly line: number;
}

const FENCE = /^```(?:\w+ file=(?<file>\S+)|console run(?<needs>(?: \S+)*))\n(?<body>[^]*?)^```$/gm;
const COMMAND = /^\$ (?<first>.*)\n(?<more>(?:> .*\n)*)(?<output>(?:(?!\$ ).*\n)*)/gm;

/** The files and commands of a page, in order. */
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

/** Whether a command printed what the page shows. */
export function isShown(shown: string, printed: string): boolean {
  const pattern = shown.split(/^\.\.\.\n/m).map(escaped).join("(?:.*\\n)*");
  return new RegExp(`^${pattern}$`).test(printed);
}

function escaped(text: string): string {
  return text.replaceAll(/[\\^$.*+?()[\]{}|]/g, "\\$&");
}

/** The page with other outputs, by the line of their command. Outputs with `...` stay. */
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
