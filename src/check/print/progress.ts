import type { World } from "../../core/world/mod.ts";
import type { Progress } from "../run.ts";

/** A line that is written over; on standard error of a terminal, and nowhere else. */
export interface ProgressLine {
  readonly tell: Progress;
  /** What is waited for. */
  say(text: string): void;
  /** Takes the line away. */
  clear(): void;
}

/** Whether colour and progress are wanted (https://no-color.org, and what terminals say of themselves). */
export function isPlain(world: World): boolean {
  return !world.stdout.isTerminal || (world.env.get("NO_COLOR") ?? "") !== "" || world.env.get("TERM") === "dumb";
}

/** Whether the terminal says of itself that it knows little. */
export function isDumb(world: World): boolean {
  return world.stdout.isTerminal && world.env.get("TERM") === "dumb";
}

/** The line of a run of checks. */
export function progressLine(world: World): ProgressLine {
  const isOn = world.stderr.isTerminal && !isPlain(world);
  const say = (text: string) => {
    if (isOn) world.stderr.write(`\r\x1b[K${text}`);
  };
  return { say, tell: (ended, all) => say(`${ended} of ${all} checks`), clear: () => say("") };
}
