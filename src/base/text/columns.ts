import { wrapped } from "./wrapped.ts";

/** Rows as text: columns two spaces apart, each as wide as its widest cell; every line ends with a newline. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths = rows.reduce<number[]>((most, row) => row.map((cell, at) => Math.max(most[at] ?? 0, cell.length)), []);
  return rows.map((row) => `${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join("  ").trimEnd()}\n`).join("");
}

/**
 * As `columns`, the first row a head; where a line is longer than `width`, a block of lines for each row instead: its
 * first cell, then the others below it, each after its head. Cells without a value are left out.
 */
export function columnsWithin([head = [], ...rows]: readonly (readonly string[])[], width: number): string {
  const table = columns([head, ...rows]);
  if (rows.length === 0 || table.split("\n").every((line) => line.length <= width)) return table;
  const names = head.slice(1).map((name) => name.toLowerCase());
  const column = Math.max(...names.map((name) => name.length)) + 4;
  const blocks = rows.map(([first = "", ...others]) => {
    const lines = others.flatMap((cell, at) => {
      if (cell === "" || cell === "-") return [];
      const start = `  ${names[at] ?? ""}`.padEnd(column);
      return wrapped(cell, width - column).map((line, index) => (index === 0 ? start : " ".repeat(column)) + line);
    });
    return [first === "" ? "-" : first, ...lines].map((line) => `${line}\n`).join("");
  });
  return blocks.join("\n");
}
