import { textWidth } from "./text_width.ts";

/** Breaks a text into lines of at most `width` characters, at spaces; a longer word gets its own line. */
export function wrapped(text: string, width: number): string[] {
  return filled(text.split(" "), width);
}

/** Wraps as `wrapped` does, but keeps quoted text that fits on a line whole, because people copy names and commands. */
export function wrappedAround(text: string, width: number): string[] {
  const pieces = text.match(/(?:[^\s"]|"[^"]*")+|\S+/g) ?? [];
  return filled(pieces.flatMap((piece) => textWidth(piece) <= width ? [piece] : piece.split(" ")), width);
}

/**
 * Wraps a text with `wrap`. If the text is too wide and ends with a command, the whole command gets its own line, because
 * people copy commands.
 */
export function wrappedBeforeCommand(text: string, width: number, wrap = wrappedAround): string[] {
  const colon = textWidth(text) <= width ? -1 : text.lastIndexOf(": kubectl ");
  return colon < 0 ? wrap(text, width) : [...wrap(text.slice(0, colon + 1), width), text.slice(colon + 2)];
}

function filled(words: readonly string[], width: number): string[] {
  const lines = [""];
  for (const word of words) {
    const line = lines.at(-1) ?? "";
    if (line === "") lines[lines.length - 1] = word;
    else if (textWidth(line) + 1 + textWidth(word) <= width) lines[lines.length - 1] = `${line} ${word}`;
    else lines.push(word);
  }
  return lines;
}
