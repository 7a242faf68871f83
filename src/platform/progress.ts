/** A line on a terminal that shows the progress of a command until it ends. */
import { columnsOf, isPlain } from "./terminal.ts";
import { visible } from "../base/text/mod.ts";
import type { World } from "./world.ts";

/** A progress line on standard error, only on a terminal. */
export interface ProgressLine {
  /** Whether anything is shown at all. */
  readonly isOn: boolean;
  /** Replaces the text on the line. */
  say(text: string): void;
  /** Removes the line, if one is there. */
  clear(): void;
}

/** The line. A text that is wider than the terminal is cut: a line that wraps could not be removed. */
export function progressLine(world: Pick<World, "stdout" | "stderr" | "env">): ProgressLine {
  const isOn = world.stderr.isTerminal && !isPlain(world);
  let isThere = false;
  return {
    isOn,
    say(text) {
      if (!isOn) return;
      isThere = true;
      world.stderr.write(`\r\x1b[K${visible(text).slice(0, columnsOf(world) - 1)}`);
    },
    clear() {
      if (!isThere) return;
      isThere = false;
      world.stderr.write("\r\x1b[K");
    },
  };
}
