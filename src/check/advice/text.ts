/** Formats advice as lines. */
import type { ShownAdvice, ShownFix } from "./advice_schema.ts";

/** A line of text. The printer does not wrap commands. */
export interface Line {
  readonly text: string;
  readonly isCommand: boolean;
}

const MAX_COMMANDS = 10;
const MAX_FIXES = 3;

/** Returns the lines of fixes. Of several fixes, each names its first object. `isWhole`: do not limit the lines. */
export function fixLines(fixes: readonly ShownFix[], isWhole = false): readonly Line[] {
  const shown = isWhole ? fixes : fixes.slice(0, MAX_FIXES);
  const left = fixes.length - shown.length;
  return [
    ...shown.flatMap(({ objects: [first, ...more], alternatives }) => {
      const of = ` of ${first}${more.length > 0 ? ` and ${more.length} more` : ""}`;
      return adviceLines(alternatives, fixes.length < 2 ? "" : of, isWhole);
    }),
    ...left > 0 ? [{ text: `and ${left} more fixes: -o wide prints all`, isCommand: false }] : [],
  ];
}

function adviceLines(alternatives: readonly ShownAdvice[], of: string, isWhole: boolean): readonly Line[] {
  return alternatives.flatMap(({ change, scope, commands, forbidden }, index) => {
    const most = isWhole ? commands.length : scope === "nothing" ? 1 : MAX_COMMANDS;
    const left = commands.length - most;
    const prefix = index > 0 ? "or" : `${scope === "nothing" ? "next" : "fix"}${of}`;
    return [
      { text: `${prefix}: ${change}${commands.length === 0 ? "" : ":"}`, isCommand: false },
      ...commands.slice(0, most).map((text) => ({ text, isCommand: true })),
      ...left > 0 && scope !== "nothing" ? [{ text: `and ${left} more: -o wide prints all`, isCommand: false }] : [],
      ...forbidden.map((need) => ({ text: `you may not ${need}: ask an administrator`, isCommand: false })),
    ];
  });
}
