import { textWidth } from "../../base/text/mod.ts";

/** Wraps a text at spaces to lines of at most `width` columns. Splits longer words. Returns at least one line. */
export function wrap(text: string, width: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const joined = line === "" ? word : `${line} ${word}`;
    if (textWidth(joined) <= width) {
      line = joined;
      continue;
    }
    if (line !== "") lines.push(line);
    const parts = split(word, width);
    line = parts.pop() ?? "";
    lines.push(...parts);
  }
  lines.push(line);
  return lines;
}

/** Splits a word into parts of at most `width` columns, each with at least one character. */
function split(word: string, width: number): string[] {
  const parts: string[] = [];
  let [part, columns] = ["", 0];
  for (const character of word) {
    const own = textWidth(character);
    if (part !== "" && columns + own > width) {
      parts.push(part);
      [part, columns] = ["", 0];
    }
    [part, columns] = [part + character, columns + own];
  }
  return [...parts, part];
}

/** Cuts what is beyond `width` columns off a text, and puts `..` at the end. */
export function cut(text: string, width: number): string {
  return textWidth(text) <= width ? text : `${split(text, width - 2)[0] ?? ""}..`;
}
