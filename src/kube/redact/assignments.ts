/**
 * Finds secrets that follow their names: `password=x`, `?token=x`, `"apiKey": "x"`, `--password x`, `Authorization:
 * x`, and headers in Envoy's debug log: `'cookie', 'x'`.
 */
import { isSecretEntry } from "./names.ts";

/** A name and the separator before its value: `=` or `:`, Envoy's comma, or the space after a flag. */
const ASSIGNED =
  /(?<![A-Za-z0-9_.-])(?<name>[A-Za-z0-9_.-]{2,200})(?<between>\\?["']?[ \t]{0,9}(?:=|:(?=[ \t"'\\]))[ \t]{0,9}|', (?=')| )(?<quote>\\?["']?)/g;

/** Replaces each secret value in a text with the result of `replace`. */
export function replaceAssigned(text: string, replace: (secret: string, name: string) => string): string {
  let result = "";
  let done = 0;
  for (const { index, 0: whole, groups = {} } of text.matchAll(ASSIGNED)) {
    const { name = "", between = "", quote = "" } = groups;
    const start = index + whole.length;
    if (index < done || !isSecretEntry(name) || (between === " " && !name.startsWith("--"))) continue;
    const end = endOf(text, start, {
      quote,
      isQuery: /[?&;]/.test(text[index - 1] ?? ""),
      isLine: between.includes(":"),
    });
    const value = text.slice(start, end);
    if (value === "" || (between === " " && value.startsWith("-"))) continue;
    result += text.slice(done, start) + replace(value, name);
    done = end;
  }
  return result + text.slice(done);
}

interface Place {
  readonly quote: string;
  readonly isQuery: boolean;
  readonly isLine: boolean;
}

/** Returns the end of the value that begins at `start`. */
function endOf(text: string, start: number, { quote, isQuery, isLine }: Place): number {
  const end = QUOTED[quote] ?? (isQuery ? QUERY : isLine ? LINE : WORD);
  end.lastIndex = start;
  return end.exec(text)?.index ?? text.length;
}

const QUERY = /[&# "'\n]/g;
const LINE = /["\n]/g;
const WORD = /[\s"']/g;
/** For each kind of quote, the pattern that matches the end of the quoted text. */
const QUOTED: Readonly<Record<string, RegExp>> = {
  '"': /["\n]/g,
  "'": /['\n]/g,
  '\\"': /\\"|\n/g,
  "\\'": /\\'|\n/g,
};
