/** Formats advice as lines. */
import type { ShownAdvice, ShownFix } from "./advice_schema.ts";

/** A line of text. The printer does not wrap commands. */
export interface Line {
  readonly text: string;
  readonly isCommand: boolean;
}

const FIX = "fix: ";
const LOOK = "next: ";
const OR = "or: ";

const MAX_COMMANDS = 10;

/** If `isWhole` is true, the number of commands is not limited. */
export function adviceLines(alternatives: readonly ShownAdvice[], isWhole = false): readonly Line[] {
  return alternatives.flatMap(({ change, scope, commands, forbidden }, index) => {
    const most = isWhole ? commands.length : scope === "nothing" ? 1 : MAX_COMMANDS;
    const left = commands.length - most;
    const prefix = index > 0 ? OR : scope === "nothing" ? LOOK : FIX;
    return [
      { text: `${prefix}${change}${commands.length === 0 ? "" : ":"}`, isCommand: false },
      ...commands.slice(0, most).map((text) => ({ text, isCommand: true })),
      ...left > 0 && scope !== "nothing" ? [{ text: `and ${left} more: -o wide prints all`, isCommand: false }] : [],
      ...forbidden.map((need) => ({ text: `you may not ${need}: ask an administrator`, isCommand: false })),
    ];
  });
}

const MAX_FIXES = 3;

/** If there are several fixes, each names its first object. `isWhole`: the number of lines is not limited. */
export function fixLines(fixes: readonly ShownFix[], isWhole = false): readonly Line[] {
  const shown = isWhole ? fixes : fixes.slice(0, MAX_FIXES);
  const left = fixes.length - shown.length;
  return [
    ...shown.flatMap((fix) => linesOf(fix, fixes.length < 2, isWhole)),
    ...left > 0 ? [{ text: `and ${left} more fixes: -o wide prints all`, isCommand: false }] : [],
  ];
}

function linesOf({ objects, alternatives }: ShownFix, isOnly: boolean, isWhole: boolean): readonly Line[] {
  const lines = adviceLines(alternatives, isWhole);
  const [first, ...rest] = lines;
  const [word = ""] = first?.text.split(":") ?? [];
  if (isOnly || first === undefined) return lines;
  const more = objects.length > 1 ? ` and ${objects.length - 1} more` : "";
  return [{ text: `${word} of ${objects[0]}${more}${first.text.slice(word.length)}`, isCommand: false }, ...rest];
}
