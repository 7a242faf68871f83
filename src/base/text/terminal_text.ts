/** The last step before a terminal: makes foreign text (names, messages, excerpts) harmless. */
import { HIDDEN_CHARACTERS, visible } from "./visible.ts";

/** What the program itself writes: line breaks, tabs, colours and weights, and at the start the line of a progress. */
// deno-lint-ignore no-control-regex -- the program's own sequences
const OWN = /^\r\x1b\[K|\r?\n|\t|\x1b\[(?:[012]|22|3[1-69])?m/g;

/** Clears a terminal. It takes effect only as a chunk of its own, which foreign text never is. */
export const CLEAR_SCREEN = "\x1b[H\x1b[2J";

/**
 * The text with every other character that a terminal would act on written as `\u001b`: control characters, and those that
 * change the direction of text.
 */
export function terminalText(text: string): string {
  if (text === CLEAR_SCREEN || text.search(HIDDEN_CHARACTERS) < 0) return text;
  let shown = "";
  let from = 0;
  for (const { 0: own, index } of text.matchAll(OWN)) {
    shown += visible(text.slice(from, index)) + own;
    from = index + own.length;
  }
  return shown + visible(text.slice(from));
}
