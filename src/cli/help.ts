import { type Flag, HELP } from "./flags.ts";

/** What a command's help says, in kubectl's order. */
export interface Help {
  readonly usage: string;
  readonly description: string;
  /** Names and lines of subcommands. */
  readonly commands?: readonly (readonly [name: string, line: string])[];
  /** Flags under their heading. */
  readonly flags?: Readonly<Record<string, readonly Flag[]>>;
  /** Text behind all of it. */
  readonly after?: string;
}

const WIDTH = 80;

/** The text of `--help`. */
export function helpText({ usage, description, commands = [], flags = {}, after }: Help): string {
  const entries = Object.entries(flags);
  const groups = entries.map(([title, group], index) => {
    return [title, rowsOf(index === entries.length - 1 ? [...group, HELP] : group)] as const;
  });
  const rows = [...commands.length === 0 ? [] : [["Commands:", commands] as const], ...groups];
  const width = Math.max(0, ...rows.flatMap(([, group]) => group.map(([name]) => name.length))) + 4;
  const parts = [
    `Usage: ${usage}`,
    description.split("\n").map((line) => wrapped(line, WIDTH).join("\n")).join("\n"),
    ...rows.map(([title, group]) => [title, ...group.flatMap((row) => columns(row, width))].join("\n")),
    ...after === undefined ? [] : [after.trim()],
  ];
  return `${parts.join("\n\n")}\n`;
}

function rowsOf(flags: readonly Flag[]): (readonly [string, string])[] {
  return flags.flatMap(({ name, short, value, help }) => {
    if (help === undefined) return [];
    const dashed = short === undefined ? `--${name}` : `-${short}, --${name}`;
    return [[value === undefined ? dashed : `${dashed} <${value}>`, help] as const];
  });
}

function columns([name, text]: readonly [string, string], width: number): string[] {
  return wrapped(text, WIDTH - width).map((line, index) => (index === 0 ? `  ${name}` : "").padEnd(width) + line);
}

/** A line as lines of at most so many characters, broken at spaces. */
function wrapped(text: string, width: number): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (line.length + 1 + word.length <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
