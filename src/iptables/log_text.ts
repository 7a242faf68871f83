/** A text as a log message of its own: braces in it (nft has them) are not places for values. */
export function logText(text: string): string {
  return text.replaceAll("{", "{{").replaceAll("}", "}}");
}
