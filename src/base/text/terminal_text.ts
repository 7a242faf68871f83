/** Makes untrusted text (names, messages, excerpts) harmless, as the last step before a terminal. */
import { HIDDEN_CHARACTERS, visible } from "./visible.ts";

/** Layout that the program itself writes: line breaks, tabs, and, at the start, the sequence of a progress line. */
// deno-lint-ignore no-control-regex -- the program's own sequences
const LAYOUT = /^\r\x1b\[K|\r?\n|\t/g;

/** Layout, colors and weights. */
// deno-lint-ignore no-control-regex -- the program's own sequences
const STYLED = /^\r\x1b\[K|\r?\n|\t|\x1b\[(?:[012]|22|3[1-69])?m/g;

/** Clears a terminal. The sequence works only as a separate chunk, which untrusted text never is. */
export const CLEAR_SCREEN = "\x1b[H\x1b[2J";

/**
 * Escapes control characters, and characters that change the direction of text, as in `\u001b`. Keeps the characters
 * that the program itself writes.
 */
export function terminalText(text: string): string {
  return text === CLEAR_SCREEN ? text : escapedExcept(text.matchAll(STYLED), text);
}

/** Does the same for a text without colors, such as all that goes to standard error or to a log of a CI system. */
export function plainText(text: string): string {
  return escapedExcept(text.matchAll(LAYOUT), text);
}

function escapedExcept(own: Iterable<RegExpExecArray>, text: string): string {
  if (text.search(HIDDEN_CHARACTERS) < 0) return text;
  let shown = "";
  let from = 0;
  for (const { 0: kept, index } of own) {
    shown += visible(text.slice(from, index)) + kept;
    from = index + kept.length;
  }
  return shown + visible(text.slice(from));
}
