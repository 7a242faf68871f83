/** Makes untrusted text (names, messages, excerpts) harmless, as the last step before a terminal. */
import { HIDDEN_CHARACTERS, visible } from "./visible.ts";

/**
 * Characters that the program itself writes: line breaks, tabs, colors and weights, and, at the start, the control
 * sequence of a progress line.
 */
// deno-lint-ignore no-control-regex -- the program's own sequences
const OWN = /^\r\x1b\[K|\r?\n|\t|\x1b\[(?:[012]|22|3[1-69])?m/g;

/** Clears a terminal. The sequence works only as a separate chunk, which untrusted text never is. */
export const CLEAR_SCREEN = "\x1b[H\x1b[2J";

/**
 * Escapes control characters, and characters that change the direction of text, as in `\u001b`. Keeps the characters
 * that the program itself writes.
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
