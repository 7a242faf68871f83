/** Makes untrusted text safe for a terminal or a picture. */

/** Control characters, and characters that change the direction or the position of text. */
export const HIDDEN_CHARACTERS =
  // deno-lint-ignore no-control-regex -- these characters are made visible
  /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff\ufffe\uffff]/gu;

/** Returns the text on one line, with every character that would control a terminal escaped as in `\u001b`. */
export function visible(text: string): string {
  return text.replaceAll(HIDDEN_CHARACTERS, (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** Matches what GitHub Actions and Azure Pipelines read as a command at the start of a line. */
const COMMAND = /^(\s*)([:#])(?=:[a-z]|#[a-z]*\[)/i;

/** Escapes the start of a line that is a command for a CI system, such as `::error::`. */
export function withoutCommand(line: string): string {
  return line.replace(COMMAND, (_, indent, sign) => `${indent}\\u00${sign.charCodeAt(0).toString(16)}`);
}
