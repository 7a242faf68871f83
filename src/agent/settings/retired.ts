import { type Flag, FLAG_LIST, type FlagName } from "./flags.ts";

/** A line for each flag that was given and does nothing any more, where that is worth a word. */
export function retiredWarnings(given: ReadonlyMap<FlagName, string>): string[] {
  return FLAG_LIST.flatMap(([name, { long, retired }]: readonly [FlagName, Flag]) =>
    given.has(name) && (retired ?? "") !== "" ? [`"--${long}" has no effect: ${retired}`] : []
  );
}
