import { paddedTo, textWidth } from "./text_width.ts";
import { wrapped, wrappedAround } from "./wrapped.ts";

/** Formats rows as text: columns two spaces apart, each as wide as its widest cell. Every line ends with a newline. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>(
    (most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, textWidth(cell))),
    [],
  );
  return rows.map((row) => `${row.map((cell, at) => paddedTo(cell, widths[at] ?? 0)).join("  ").trimEnd()}\n`).join("");
}

/**
 * Formats rows as `columns` does, with the first row as the header. If a line would be longer than `width`, prints a
 * block of lines for each row instead: the first cell, then the other cells below it, each after its column's name.
 * Cells without a value are left out.
 */
export function columnsWithin([head = [], ...rows]: readonly (readonly string[])[], width: number): string {
  const table = columns([head, ...rows]);
  if (rows.length === 0 || widest(table) <= width) return table;
  const names = head.slice(1).map((name) => name.toLowerCase());
  const column = Math.max(...names.map((name) => name.length)) + 4;
  const blocks = rows.map(([first = "", ...others]) => {
    const lines = others.flatMap((cell, at) => {
      if (cell === "" || cell === "-") return [];
      const start = `  ${names[at] ?? ""}`.padEnd(column);
      return wrapped(cell, width - column).map((line, index) => (index === 0 ? start : " ".repeat(column)) + line);
    });
    return [...wrapped(first === "" ? "-" : first, width), ...lines].map((line) => `${line}\n`).join("");
  });
  return blocks.join("\n");
}

/** Minimum width for a text beside the other columns. */
const LEAST_TEXT = 24;

/**
 * Formats rows as `columns` does, and wraps the text in their last column, so that no line is longer than `width`. If the
 * other columns leave too little space, the text is below its row, indented by four. If these columns alone are too wide,
 * and the first row is a header, formats the rows as `columnsWithin` does.
 */
export function columnsBeforeText(
  rows: readonly (readonly string[])[],
  width: number,
  { hasHeader = true }: { readonly hasHeader?: boolean } = {},
): string {
  const table = columns(rows);
  if (widest(table) <= width) return table;
  const texts = rows.map((row) => row.at(-1) ?? "");
  const others = columns(rows.map((row) => row.slice(0, -1)));
  const column = widest(others) + 2;
  const isBeside = width - column >= Math.max(LEAST_TEXT, widest(texts.join("\n").replaceAll(" ", "\n")));
  if (!isBeside && hasHeader && widest(others) > width) return columnsWithin(rows, width);
  const lines = others.split("\n").slice(0, -1);
  const indent = " ".repeat(lines.reduce((least, line) => Math.min(least, line.search(/\S|$/)), width) + 4);
  return lines.flatMap((line, row) => {
    const text = texts[row] ?? "";
    if (isBeside) {
      const [first = "", ...more] = wrappedAround(text, width - column);
      return [paddedTo(line, column) + first, ...more.map((part) => " ".repeat(column) + part)];
    }
    const below = text === "" || text === "-" ? [] : wrappedAround(text, width - indent.length);
    return [line, ...below.map((part) => indent + part)];
  }).map((line) => `${line.trimEnd()}\n`).join("");
}

/** Returns the width of the widest line. */
function widest(lines: string): number {
  return lines.split("\n").reduce((most, line) => Math.max(most, textWidth(line)), 0);
}
